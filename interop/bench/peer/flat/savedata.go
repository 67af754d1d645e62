package flat

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/graven-rpc/graven/interop/bench/fb"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

func (w *writer) savedata(m *scenario.Savedata) []byte {
	b := w.Builder
	b.Reset()
	players := make([]flatbuffers.UOffsetT, len(m.Players))
	for i := range m.Players {
		players[i] = w.player(&m.Players[i])
	}
	fb.SavedataStartPlayersVector(b, len(players))
	list := w.vector(players)
	fb.SavedataStart(b)
	fb.SavedataAddPlayers(b, list)
	b.Finish(fb.SavedataEnd(b))
	return b.FinishedBytes()
}

func (w *writer) player(p *scenario.Player) flatbuffers.UOffsetT {
	b := w.Builder
	dimension, selected := b.CreateString(p.Dimension), w.item(&p.SelectedItem)
	var spawn, vehicle, left, right flatbuffers.UOffsetT
	if p.SpawnDimension != nil {
		spawn = b.CreateString(*p.SpawnDimension)
	}
	inventory := w.items(p.Inventory, fb.PlayerStartInventoryVector)
	ender := w.items(p.EnderItems, fb.PlayerStartEnderItemsVector)
	if v := p.Vehicle; v != nil {
		c := w.creature(&v.Creature)
		fb.VehicleStart(b)
		fb.VehicleAddUuid(b, fb.CreateUuid(b, v.UUID[0], v.UUID[1], v.UUID[2], v.UUID[3]))
		fb.VehicleAddCreature(b, c)
		vehicle = fb.VehicleEnd(b)
	}
	if p.LeftShoulder != nil {
		left = w.creature(p.LeftShoulder)
	}
	if p.RightShoulder != nil {
		right = w.creature(p.RightShoulder)
	}
	book := w.recipeBook(&p.RecipeBook)

	fb.PlayerStart(b)
	fb.PlayerAddScore(b, p.Score)
	fb.PlayerAddSpawnX(b, p.SpawnX)
	fb.PlayerAddSpawnY(b, p.SpawnY)
	fb.PlayerAddSpawnZ(b, p.SpawnZ)
	if n := p.NetherPosition; n != nil {
		fb.PlayerAddNetherPosition(b, fb.CreateVec3d(b, n.X, n.Y, n.Z))
	}
	fb.PlayerAddDimension(b, dimension)
	fb.PlayerAddSelectedSlot(b, p.SelectedSlot)
	fb.PlayerAddSelectedItem(b, selected)
	fb.PlayerAddSpawnDimension(b, spawn)
	fb.PlayerAddFoodExhaustion(b, p.FoodExhaustion)
	fb.PlayerAddFoodSaturation(b, p.FoodSaturation)
	fb.PlayerAddFoodTickTimer(b, p.FoodTickTimer)
	fb.PlayerAddXpLevel(b, p.XPLevel)
	fb.PlayerAddXpProgress(b, p.XPProgress)
	fb.PlayerAddXpTotal(b, p.XPTotal)
	fb.PlayerAddXpSeed(b, p.XPSeed)
	fb.PlayerAddInventory(b, inventory)
	fb.PlayerAddEnderItems(b, ender)
	a := &p.Abilities
	fb.PlayerAddAbilities(b, fb.CreateAbilities(b, a.WalkSpeed, a.FlySpeed, a.MayFly, a.Flying, a.Invulnerable, a.MayBuild, a.InstaBuild))
	fb.PlayerAddVehicle(b, vehicle)
	fb.PlayerAddLeftShoulder(b, left)
	fb.PlayerAddRightShoulder(b, right)
	fb.PlayerAddRecipeBook(b, book)
	fb.PlayerAddSleepTimer(b, p.SleepTimer)
	fb.PlayerAddGameType(b, fb.GameType(p.GameType))
	fb.PlayerAddPreviousGameType(b, fb.GameType(p.PreviousGameType))
	if p.SpawnForced != nil {
		fb.PlayerAddSpawnForced(b, *p.SpawnForced)
	}
	fb.PlayerAddSeenCredits(b, p.SeenCredits)
	return fb.PlayerEnd(b)
}

func (w *writer) item(i *scenario.Item) flatbuffers.UOffsetT {
	b := w.Builder
	id := b.CreateString(i.ID)
	fb.ItemStart(b)
	fb.ItemAddId(b, id)
	fb.ItemAddCount(b, i.Count)
	fb.ItemAddSlot(b, i.Slot)
	return fb.ItemEnd(b)
}

func (w *writer) items(l []scenario.Item, start func(*flatbuffers.Builder, int) flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	offs := w.offsets(len(l))
	for i := range l {
		offs[i] = w.item(&l[i])
	}
	start(w.Builder, len(offs))
	return w.vector(offs)
}

func (w *writer) recipeBook(r *scenario.RecipeBook) flatbuffers.UOffsetT {
	b := w.Builder
	strings := func(l []string, start func(*flatbuffers.Builder, int) flatbuffers.UOffsetT) flatbuffers.UOffsetT {
		offs := w.offsets(len(l))
		for i, s := range l {
			offs[i] = b.CreateString(s)
		}
		start(b, len(offs))
		return w.vector(offs)
	}
	recipes := strings(r.Recipes, fb.RecipeBookStartRecipesVector)
	displayed := strings(r.Displayed, fb.RecipeBookStartDisplayedVector)
	fb.RecipeBookStart(b)
	fb.RecipeBookAddRecipes(b, recipes)
	fb.RecipeBookAddDisplayed(b, displayed)
	fb.RecipeBookAddFilteringCraftable(b, r.FilteringCraftable)
	fb.RecipeBookAddGuiOpen(b, r.GUIOpen)
	fb.RecipeBookAddFurnaceFiltering(b, r.FurnaceFiltering)
	fb.RecipeBookAddFurnaceGuiOpen(b, r.FurnaceGUIOpen)
	fb.RecipeBookAddBlastingFiltering(b, r.BlastingFiltering)
	fb.RecipeBookAddBlastingFurnaceGuiOpen(b, r.BlastingFurnaceGUIOpen)
	fb.RecipeBookAddSmokerFiltering(b, r.SmokerFiltering)
	fb.RecipeBookAddSmokerGuiOpen(b, r.SmokerGUIOpen)
	return fb.RecipeBookEnd(b)
}

func (w *writer) creature(c *scenario.Creature) flatbuffers.UOffsetT {
	b := w.Builder
	id := b.CreateString(c.ID)
	var name flatbuffers.UOffsetT
	if c.CustomName != nil {
		name = b.CreateString(*c.CustomName)
	}
	fb.CreatureStart(b)
	fb.CreatureAddPosition(b, fb.CreateVec3d(b, c.Position.X, c.Position.Y, c.Position.Z))
	fb.CreatureAddMotion(b, fb.CreateVec3d(b, c.Motion.X, c.Motion.Y, c.Motion.Z))
	fb.CreatureAddId(b, id)
	fb.CreatureAddYaw(b, c.Yaw)
	fb.CreatureAddPitch(b, c.Pitch)
	fb.CreatureAddFallDistance(b, c.FallDistance)
	fb.CreatureAddPortalCooldown(b, c.PortalCooldown)
	fb.CreatureAddUuid(b, fb.CreateUuid(b, c.UUID[0], c.UUID[1], c.UUID[2], c.UUID[3]))
	fb.CreatureAddCustomName(b, name)
	fb.CreatureAddFire(b, c.Fire)
	fb.CreatureAddAir(b, c.Air)
	fb.CreatureAddOnGround(b, c.OnGround)
	fb.CreatureAddNoGravity(b, c.NoGravity)
	fb.CreatureAddInvulnerable(b, c.Invulnerable)
	fb.CreatureAddNameVisible(b, c.NameVisible)
	fb.CreatureAddSilent(b, c.Silent)
	fb.CreatureAddGlowing(b, c.Glowing)
	return fb.CreatureEnd(b)
}

// cursor holds the accessors that reading reuses.
type cursor struct {
	player    fb.Player
	item      fb.Item
	abilities fb.Abilities
	position  fb.Vec3d
	motion    fb.Vec3d
	uuid      fb.Uuid
	vehicle   fb.Vehicle
	creature  fb.Creature
	book      fb.RecipeBook
}

func sumSavedata(buf []byte) uint64 {
	m := fb.GetRootAsSavedata(buf, 0)
	n := m.PlayersLength()
	s := scenario.NewSum().U(uint64(n))
	var c cursor
	for i := range n {
		m.Players(&c.player, i)
		s = c.addPlayer(s)
	}
	return s.Value()
}

func (c *cursor) addPlayer(s scenario.Sum) scenario.Sum {
	p := &c.player
	s = s.U(uint64(p.GameType())).U(uint64(p.PreviousGameType())).U(uint64(p.Score())).Bytes(p.Dimension()).U(uint64(p.SelectedSlot()))
	if i := p.SelectedItem(&c.item); i != nil {
		s = addItem(s.U(1), i)
	} else {
		s = s.U(0)
	}
	s = addOptional(s, p.SpawnDimension())
	s = s.U(uint64(p.SpawnX())).U(uint64(p.SpawnY())).U(uint64(p.SpawnZ()))
	if f := p.SpawnForced(); f != nil {
		s = s.U(1).B(*f)
	} else {
		s = s.U(0)
	}
	s = s.U(uint64(p.SleepTimer())).F32(p.FoodExhaustion()).F32(p.FoodSaturation()).U(uint64(p.FoodTickTimer()))
	s = s.U(uint64(p.XpLevel())).F32(p.XpProgress()).U(uint64(p.XpTotal())).U(uint64(p.XpSeed()))
	n := p.InventoryLength()
	s = s.U(uint64(n))
	for i := range n {
		p.Inventory(&c.item, i)
		s = addItem(s, &c.item)
	}
	n = p.EnderItemsLength()
	s = s.U(uint64(n))
	for i := range n {
		p.EnderItems(&c.item, i)
		s = addItem(s, &c.item)
	}
	a := p.Abilities(&c.abilities)
	s = s.F32(a.WalkSpeed()).F32(a.FlySpeed()).B(a.MayFly()).B(a.Flying()).B(a.Invulnerable()).B(a.MayBuild()).B(a.InstaBuild())
	if v := p.NetherPosition(&c.position); v != nil {
		s = s.U(1).F64(v.X()).F64(v.Y()).F64(v.Z())
	} else {
		s = s.U(0)
	}
	if v := p.Vehicle(&c.vehicle); v != nil {
		s = addUUID(s.U(1), v.Uuid(&c.uuid))
		s = c.addCreature(s, v.Creature(&c.creature))
	} else {
		s = s.U(0)
	}
	s = c.addCreature(s, p.LeftShoulder(&c.creature))
	s = c.addCreature(s, p.RightShoulder(&c.creature)).B(p.SeenCredits())
	b := p.RecipeBook(&c.book)
	if b == nil {
		return s.U(0)
	}
	n = b.RecipesLength()
	s = s.U(1).U(uint64(n))
	for i := range n {
		s = s.Bytes(b.Recipes(i))
	}
	n = b.DisplayedLength()
	s = s.U(uint64(n))
	for i := range n {
		s = s.Bytes(b.Displayed(i))
	}
	return s.B(b.FilteringCraftable()).B(b.GuiOpen()).B(b.FurnaceFiltering()).B(b.FurnaceGuiOpen()).
		B(b.BlastingFiltering()).B(b.BlastingFurnaceGuiOpen()).B(b.SmokerFiltering()).B(b.SmokerGuiOpen())
}

func addOptional(s scenario.Sum, v []byte) scenario.Sum {
	if v == nil {
		return s.U(0)
	}
	return s.U(1).Bytes(v)
}

func addItem(s scenario.Sum, i *fb.Item) scenario.Sum {
	return s.U(uint64(i.Count())).U(uint64(i.Slot())).Bytes(i.Id())
}

func addUUID(s scenario.Sum, u *fb.Uuid) scenario.Sum {
	return s.U(uint64(u.A())).U(uint64(u.B())).U(uint64(u.C())).U(uint64(u.D()))
}

func (c *cursor) addCreature(s scenario.Sum, e *fb.Creature) scenario.Sum {
	if e == nil {
		return s.U(0)
	}
	p, m := e.Position(&c.position), e.Motion(&c.motion)
	s = s.U(1).Bytes(e.Id()).F64(p.X()).F64(p.Y()).F64(p.Z()).F64(m.X()).F64(m.Y()).F64(m.Z())
	s = s.F32(e.Yaw()).F32(e.Pitch()).F32(e.FallDistance()).U(uint64(e.Fire())).U(uint64(e.Air()))
	s = s.B(e.OnGround()).B(e.NoGravity()).B(e.Invulnerable()).U(uint64(e.PortalCooldown()))
	s = addOptional(addUUID(s, e.Uuid(&c.uuid)), e.CustomName())
	return s.B(e.NameVisible()).B(e.Silent()).B(e.Glowing())
}
