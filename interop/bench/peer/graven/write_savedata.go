package graven

import (
	pb "github.com/graven-rpc/graven/interop/bench/proto/savedata/v1"
	views "github.com/graven-rpc/graven/interop/bench/proto/savedata/v1/savedatav1graven"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

func writeSavedata(w *views.SavedataWriter, m *scenario.Savedata) {
	l := w.NewPlayers(len(m.Players))
	for i := range m.Players {
		p := &m.Players[i]
		r := l.At(i)
		writePlayer(r, p)
		writeItems(r.NewInventory(len(p.Inventory)), p.Inventory)
		writeItems(r.NewEnderItems(len(p.EnderItems)), p.EnderItems)
		writeCompanions(r, p)
		book := r.NewRecipeBook()
		book.SetRecipes(p.RecipeBook.Recipes)
		book.SetDisplayed(p.RecipeBook.Displayed)
		writeBook(book, &p.RecipeBook)
	}
}

func buildSavedata(w *views.SavedataWriter, m *scenario.Savedata) {
	l := w.BuildPlayers()
	for i := range m.Players {
		p := &m.Players[i]
		r := l.Append()
		writePlayer(r, p)
		buildItems(r.BuildInventory(), p.Inventory)
		buildItems(r.BuildEnderItems(), p.EnderItems)
		writeCompanions(r, p)
		book := r.NewRecipeBook()
		recipes := book.BuildRecipes()
		for _, s := range p.RecipeBook.Recipes {
			recipes.Append(s)
		}
		recipes.Close()
		displayed := book.BuildDisplayed()
		for _, s := range p.RecipeBook.Displayed {
			displayed.Append(s)
		}
		displayed.Close()
		writeBook(book, &p.RecipeBook)
	}
	l.Close()
}

// writePlayer writes what comes before the player's lists.
func writePlayer(r views.PlayerRow, p *scenario.Player) {
	r.SetGameType(pb.GameType(p.GameType))
	r.SetPreviousGameType(pb.GameType(p.PreviousGameType))
	r.SetScore(p.Score)
	r.SetDimension(p.Dimension)
	r.SetSelectedSlot(p.SelectedSlot)
	i := &p.SelectedItem
	r.NewSelectedItem().Set(int32(i.Count), uint32(i.Slot), i.ID)
	if p.SpawnDimension != nil {
		r.SetSpawnDimension(*p.SpawnDimension)
	}
	r.SetSpawnX(p.SpawnX)
	r.SetSpawnY(p.SpawnY)
	r.SetSpawnZ(p.SpawnZ)
	if p.SpawnForced != nil {
		r.SetSpawnForced(*p.SpawnForced)
	}
	r.SetSleepTimer(uint32(p.SleepTimer))
	r.SetFoodExhaustion(p.FoodExhaustion)
	r.SetFoodSaturation(p.FoodSaturation)
	r.SetFoodTickTimer(p.FoodTickTimer)
	r.SetXpLevel(p.XPLevel)
	r.SetXpProgress(p.XPProgress)
	r.SetXpTotal(p.XPTotal)
	r.SetXpSeed(p.XPSeed)
}

func writeItems(l views.ItemRows, items []scenario.Item) {
	for i := range items {
		it := &items[i]
		l.Set(i, int32(it.Count), uint32(it.Slot), it.ID)
	}
}

func buildItems(l views.ItemRows, items []scenario.Item) {
	for i := range items {
		it := &items[i]
		l.Add(int32(it.Count), uint32(it.Slot), it.ID)
	}
	l.Close()
}

// writeCompanions writes what comes between the player's lists and the recipe book.
func writeCompanions(r views.PlayerRow, p *scenario.Player) {
	a := &p.Abilities
	r.SetAbilities(views.AbilitiesValue{
		WalkSpeed: a.WalkSpeed, FlySpeed: a.FlySpeed, MayFly: a.MayFly, Flying: a.Flying,
		Invulnerable: a.Invulnerable, MayBuild: a.MayBuild, InstaBuild: a.InstaBuild,
	})
	if p.NetherPosition != nil {
		r.SetNetherPosition(vec3d(*p.NetherPosition))
	}
	if v := p.Vehicle; v != nil {
		o := r.NewVehicle()
		o.SetUuid(uuid(v.UUID))
		writeCreature(o.NewCreature(), &v.Creature)
	}
	if c := p.LeftShoulder; c != nil {
		writeCreature(r.NewLeftShoulder(), c)
	}
	if c := p.RightShoulder; c != nil {
		writeCreature(r.NewRightShoulder(), c)
	}
	r.SetSeenCredits(p.SeenCredits)
}

func writeCreature(r views.CreatureRow, c *scenario.Creature) {
	r.SetId(c.ID)
	r.SetPosition(vec3d(c.Position))
	r.SetMotion(vec3d(c.Motion))
	r.SetYaw(c.Yaw)
	r.SetPitch(c.Pitch)
	r.SetFallDistance(c.FallDistance)
	r.SetFire(uint32(c.Fire))
	r.SetAir(uint32(c.Air))
	r.SetOnGround(c.OnGround)
	r.SetNoGravity(c.NoGravity)
	r.SetInvulnerable(c.Invulnerable)
	r.SetPortalCooldown(c.PortalCooldown)
	r.SetUuid(uuid(c.UUID))
	if c.CustomName != nil {
		r.SetCustomName(*c.CustomName)
	}
	r.SetNameVisible(c.NameVisible)
	r.SetSilent(c.Silent)
	r.SetGlowing(c.Glowing)
}

// writeBook writes what comes behind the recipe book's lists.
func writeBook(r views.RecipeBookRow, b *scenario.RecipeBook) {
	r.SetFilteringCraftable(b.FilteringCraftable)
	r.SetGuiOpen(b.GUIOpen)
	r.SetFurnaceFiltering(b.FurnaceFiltering)
	r.SetFurnaceGuiOpen(b.FurnaceGUIOpen)
	r.SetBlastingFiltering(b.BlastingFiltering)
	r.SetBlastingFurnaceGuiOpen(b.BlastingFurnaceGUIOpen)
	r.SetSmokerFiltering(b.SmokerFiltering)
	r.SetSmokerGuiOpen(b.SmokerGUIOpen)
}

func vec3d(v scenario.Vec3d) views.Vec3DValue { return views.Vec3DValue{X: v.X, Y: v.Y, Z: v.Z} }

func uuid(u [4]uint32) views.UUIDValue { return views.UUIDValue{A: u[0], B: u[1], C: u[2], D: u[3]} }
