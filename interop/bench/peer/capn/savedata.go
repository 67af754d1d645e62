package capn

import (
	"capnproto.org/go/capnp/v3"

	"github.com/graven-rpc/graven/interop/bench/cp"
	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

func writeSavedata(seg *capnp.Segment, m *scenario.Savedata) {
	l := peer.Must(peer.Must(cp.NewRootSavedata(seg)).NewPlayers(int32(len(m.Players))))
	for i := range m.Players {
		writePlayer(l.At(i), &m.Players[i])
	}
}

func writePlayer(d cp.Player, p *scenario.Player) {
	d.SetGameType(cp.GameType(p.GameType))
	d.SetPreviousGameType(cp.GameType(p.PreviousGameType))
	d.SetScore(p.Score)
	peer.Check(d.SetDimension(p.Dimension))
	d.SetSelectedSlot(p.SelectedSlot)
	writeItem(peer.Must(d.NewSelectedItem()), &p.SelectedItem)
	if p.SpawnDimension != nil {
		peer.Check(d.SetSpawnDimension(*p.SpawnDimension))
	}
	d.SetSpawnX(p.SpawnX)
	d.SetSpawnY(p.SpawnY)
	d.SetSpawnZ(p.SpawnZ)
	if p.SpawnForced != nil {
		d.SpawnForced().SetValue(*p.SpawnForced)
	}
	d.SetSleepTimer(p.SleepTimer)
	d.SetFoodExhaustion(p.FoodExhaustion)
	d.SetFoodSaturation(p.FoodSaturation)
	d.SetFoodTickTimer(p.FoodTickTimer)
	d.SetXpLevel(p.XPLevel)
	d.SetXpProgress(p.XPProgress)
	d.SetXpTotal(p.XPTotal)
	d.SetXpSeed(p.XPSeed)
	writeItems(peer.Must(d.NewInventory(int32(len(p.Inventory)))), p.Inventory)
	writeItems(peer.Must(d.NewEnderItems(int32(len(p.EnderItems)))), p.EnderItems)
	a, from := d.Abilities(), &p.Abilities
	a.SetWalkSpeed(from.WalkSpeed)
	a.SetFlySpeed(from.FlySpeed)
	a.SetMayFly(from.MayFly)
	a.SetFlying(from.Flying)
	a.SetInvulnerable(from.Invulnerable)
	a.SetMayBuild(from.MayBuild)
	a.SetInstaBuild(from.InstaBuild)
	if n := p.NetherPosition; n != nil {
		v := peer.Must(d.NewNetherPosition())
		v.SetX(n.X)
		v.SetY(n.Y)
		v.SetZ(n.Z)
	}
	if v := p.Vehicle; v != nil {
		w := peer.Must(d.NewVehicle())
		u := w.Uuid()
		u.SetA(v.UUID[0])
		u.SetB(v.UUID[1])
		u.SetC(v.UUID[2])
		u.SetD(v.UUID[3])
		writeCreature(peer.Must(w.NewCreature()), &v.Creature)
	}
	if p.LeftShoulder != nil {
		writeCreature(peer.Must(d.NewLeftShoulder()), p.LeftShoulder)
	}
	if p.RightShoulder != nil {
		writeCreature(peer.Must(d.NewRightShoulder()), p.RightShoulder)
	}
	d.SetSeenCredits(p.SeenCredits)
	b, r := peer.Must(d.NewRecipeBook()), &p.RecipeBook
	writeTexts(peer.Must(b.NewRecipes(int32(len(r.Recipes)))), r.Recipes)
	writeTexts(peer.Must(b.NewDisplayed(int32(len(r.Displayed)))), r.Displayed)
	b.SetFilteringCraftable(r.FilteringCraftable)
	b.SetGuiOpen(r.GUIOpen)
	b.SetFurnaceFiltering(r.FurnaceFiltering)
	b.SetFurnaceGuiOpen(r.FurnaceGUIOpen)
	b.SetBlastingFiltering(r.BlastingFiltering)
	b.SetBlastingFurnaceGuiOpen(r.BlastingFurnaceGUIOpen)
	b.SetSmokerFiltering(r.SmokerFiltering)
	b.SetSmokerGuiOpen(r.SmokerGUIOpen)
}

func writeItem(d cp.Item, i *scenario.Item) {
	d.SetCount(i.Count)
	d.SetSlot(i.Slot)
	peer.Check(d.SetId(i.ID))
}

func writeItems(d cp.Item_List, l []scenario.Item) {
	for i := range l {
		writeItem(d.At(i), &l[i])
	}
}

func writeTexts(d capnp.TextList, l []string) {
	for i, s := range l {
		peer.Check(d.Set(i, s))
	}
}

func writeCreature(d cp.Creature, c *scenario.Creature) {
	peer.Check(d.SetId(c.ID))
	p, m := d.Position(), d.Motion()
	p.SetX(c.Position.X)
	p.SetY(c.Position.Y)
	p.SetZ(c.Position.Z)
	m.SetX(c.Motion.X)
	m.SetY(c.Motion.Y)
	m.SetZ(c.Motion.Z)
	d.SetYaw(c.Yaw)
	d.SetPitch(c.Pitch)
	d.SetFallDistance(c.FallDistance)
	d.SetFire(c.Fire)
	d.SetAir(c.Air)
	d.SetOnGround(c.OnGround)
	d.SetNoGravity(c.NoGravity)
	d.SetInvulnerable(c.Invulnerable)
	d.SetPortalCooldown(c.PortalCooldown)
	u := d.Uuid()
	u.SetA(c.UUID[0])
	u.SetB(c.UUID[1])
	u.SetC(c.UUID[2])
	u.SetD(c.UUID[3])
	if c.CustomName != nil {
		peer.Check(d.SetCustomName(*c.CustomName))
	}
	d.SetNameVisible(c.NameVisible)
	d.SetSilent(c.Silent)
	d.SetGlowing(c.Glowing)
}

func sumSavedata(msg *capnp.Message) uint64 {
	l := peer.Must(peer.Must(cp.ReadRootSavedata(msg)).Players())
	n := l.Len()
	s := scenario.NewSum().U(uint64(n))
	for i := range n {
		s = addPlayer(s, l.At(i))
	}
	return s.Value()
}

func addPlayer(s scenario.Sum, p cp.Player) scenario.Sum {
	s = s.U(uint64(p.GameType())).U(uint64(p.PreviousGameType())).U(uint64(p.Score()))
	s = s.Bytes(peer.Must(p.DimensionBytes())).U(uint64(p.SelectedSlot()))
	if p.HasSelectedItem() {
		s = addItem(s.U(1), peer.Must(p.SelectedItem()))
	} else {
		s = s.U(0)
	}
	if p.HasSpawnDimension() {
		s = s.U(1).Bytes(peer.Must(p.SpawnDimensionBytes()))
	} else {
		s = s.U(0)
	}
	s = s.U(uint64(p.SpawnX())).U(uint64(p.SpawnY())).U(uint64(p.SpawnZ()))
	if f := p.SpawnForced(); f.Which() == cp.Player_spawnForced_Which_value {
		s = s.U(1).B(f.Value())
	} else {
		s = s.U(0)
	}
	s = s.U(uint64(p.SleepTimer())).F32(p.FoodExhaustion()).F32(p.FoodSaturation()).U(uint64(p.FoodTickTimer()))
	s = s.U(uint64(p.XpLevel())).F32(p.XpProgress()).U(uint64(p.XpTotal())).U(uint64(p.XpSeed()))
	s = addItems(addItems(s, peer.Must(p.Inventory())), peer.Must(p.EnderItems()))
	a := p.Abilities()
	s = s.F32(a.WalkSpeed()).F32(a.FlySpeed()).B(a.MayFly()).B(a.Flying()).B(a.Invulnerable()).B(a.MayBuild()).B(a.InstaBuild())
	if p.HasNetherPosition() {
		v := peer.Must(p.NetherPosition())
		s = s.U(1).F64(v.X()).F64(v.Y()).F64(v.Z())
	} else {
		s = s.U(0)
	}
	if p.HasVehicle() {
		v := peer.Must(p.Vehicle())
		u := v.Uuid()
		s = s.U(1).U(uint64(u.A())).U(uint64(u.B())).U(uint64(u.C())).U(uint64(u.D()))
		s = addCreature(s, v.HasCreature(), peer.Must(v.Creature()))
	} else {
		s = s.U(0)
	}
	s = addCreature(s, p.HasLeftShoulder(), peer.Must(p.LeftShoulder()))
	s = addCreature(s, p.HasRightShoulder(), peer.Must(p.RightShoulder())).B(p.SeenCredits())
	if !p.HasRecipeBook() {
		return s.U(0)
	}
	b := peer.Must(p.RecipeBook())
	s = addTexts(addTexts(s.U(1), peer.Must(b.Recipes())), peer.Must(b.Displayed()))
	return s.B(b.FilteringCraftable()).B(b.GuiOpen()).B(b.FurnaceFiltering()).B(b.FurnaceGuiOpen()).
		B(b.BlastingFiltering()).B(b.BlastingFurnaceGuiOpen()).B(b.SmokerFiltering()).B(b.SmokerGuiOpen())
}

func addItem(s scenario.Sum, i cp.Item) scenario.Sum {
	return s.U(uint64(i.Count())).U(uint64(i.Slot())).Bytes(peer.Must(i.IdBytes()))
}

func addItems(s scenario.Sum, l cp.Item_List) scenario.Sum {
	n := l.Len()
	s = s.U(uint64(n))
	for i := range n {
		s = addItem(s, l.At(i))
	}
	return s
}

func addTexts(s scenario.Sum, l capnp.TextList) scenario.Sum {
	n := l.Len()
	s = s.U(uint64(n))
	for i := range n {
		s = s.Bytes(peer.Must(l.BytesAt(i)))
	}
	return s
}

func addCreature(s scenario.Sum, has bool, c cp.Creature) scenario.Sum {
	if !has {
		return s.U(0)
	}
	p, m, u := c.Position(), c.Motion(), c.Uuid()
	s = s.U(1).Bytes(peer.Must(c.IdBytes())).F64(p.X()).F64(p.Y()).F64(p.Z()).F64(m.X()).F64(m.Y()).F64(m.Z())
	s = s.F32(c.Yaw()).F32(c.Pitch()).F32(c.FallDistance()).U(uint64(c.Fire())).U(uint64(c.Air()))
	s = s.B(c.OnGround()).B(c.NoGravity()).B(c.Invulnerable()).U(uint64(c.PortalCooldown()))
	s = s.U(uint64(u.A())).U(uint64(u.B())).U(uint64(u.C())).U(uint64(u.D()))
	if c.HasCustomName() {
		s = s.U(1).Bytes(peer.Must(c.CustomNameBytes()))
	} else {
		s = s.U(0)
	}
	return s.B(c.NameVisible()).B(c.Silent()).B(c.Glowing())
}
