package pbmsg

import (
	logv1 "github.com/graven-rpc/graven/interop/bench/proto/log/v1"
	meshv1 "github.com/graven-rpc/graven/interop/bench/proto/mesh/v1"
	pb "github.com/graven-rpc/graven/interop/bench/proto/savedata/v1"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

func logs(m *scenario.Logs) *logv1.Logs {
	out := &logv1.Logs{Logs: make([]*logv1.Log, len(m.Logs))}
	for i := range m.Logs {
		l := &m.Logs[i]
		a := l.Address
		out.Logs[i] = &logv1.Log{
			Address:  &logv1.Address{X0: uint32(a.X0), X1: uint32(a.X1), X2: uint32(a.X2), X3: uint32(a.X3)},
			Identity: l.Identity, Userid: l.UserID, Date: l.Date, Request: l.Request, Code: uint32(l.Code), Size: l.Size,
		}
	}
	return out
}

func sumLogs(m *logv1.Logs) uint64 {
	s := scenario.NewSum().U(uint64(len(m.Logs)))
	for _, l := range m.Logs {
		a := l.Address
		s = s.U(uint64(a.X0)).U(uint64(a.X1)).U(uint64(a.X2)).U(uint64(a.X3))
		s = s.Str(l.Identity).Str(l.Userid).Str(l.Date).Str(l.Request).U(uint64(l.Code)).U(l.Size)
	}
	return s.Value()
}

func mesh(m *scenario.Mesh) *meshv1.Mesh {
	v := func(v scenario.Vec3) *meshv1.Vec3 { return &meshv1.Vec3{X: v.X, Y: v.Y, Z: v.Z} }
	out := &meshv1.Mesh{Triangles: make([]*meshv1.Triangle, len(m.Triangles))}
	for i := range m.Triangles {
		t := &m.Triangles[i]
		out.Triangles[i] = &meshv1.Triangle{V0: v(t.V0), V1: v(t.V1), V2: v(t.V2), Normal: v(t.Normal)}
	}
	return out
}

func sumMesh(m *meshv1.Mesh) uint64 {
	s := scenario.NewSum().U(uint64(len(m.Triangles)))
	for _, t := range m.Triangles {
		a, b, c, n := t.V0, t.V1, t.V2, t.Normal
		s = s.V3(a.X, a.Y, a.Z).V3(b.X, b.Y, b.Z).V3(c.X, c.Y, c.Z).V3(n.X, n.Y, n.Z)
	}
	return s.Value()
}

func savedata(m *scenario.Savedata) *pb.Savedata {
	out := &pb.Savedata{Players: make([]*pb.Player, len(m.Players))}
	for i := range m.Players {
		out.Players[i] = player(&m.Players[i])
	}
	return out
}

func player(p *scenario.Player) *pb.Player {
	a, b := &p.Abilities, &p.RecipeBook
	out := &pb.Player{
		GameType: pb.GameType(p.GameType), PreviousGameType: pb.GameType(p.PreviousGameType),
		Score: p.Score, Dimension: p.Dimension, SelectedSlot: p.SelectedSlot, SelectedItem: item(&p.SelectedItem),
		SpawnDimension: p.SpawnDimension, SpawnX: p.SpawnX, SpawnY: p.SpawnY, SpawnZ: p.SpawnZ, SpawnForced: p.SpawnForced,
		SleepTimer: uint32(p.SleepTimer), FoodExhaustion: p.FoodExhaustion, FoodSaturation: p.FoodSaturation, FoodTickTimer: p.FoodTickTimer,
		XpLevel: p.XPLevel, XpProgress: p.XPProgress, XpTotal: p.XPTotal, XpSeed: p.XPSeed,
		Inventory: itemList(p.Inventory), EnderItems: itemList(p.EnderItems),
		Abilities: &pb.Abilities{WalkSpeed: a.WalkSpeed, FlySpeed: a.FlySpeed, MayFly: a.MayFly, Flying: a.Flying,
			Invulnerable: a.Invulnerable, MayBuild: a.MayBuild, InstaBuild: a.InstaBuild},
		LeftShoulder: creature(p.LeftShoulder), RightShoulder: creature(p.RightShoulder), SeenCredits: p.SeenCredits,
		RecipeBook: &pb.RecipeBook{Recipes: b.Recipes, Displayed: b.Displayed,
			FilteringCraftable: b.FilteringCraftable, GuiOpen: b.GUIOpen,
			FurnaceFiltering: b.FurnaceFiltering, FurnaceGuiOpen: b.FurnaceGUIOpen,
			BlastingFiltering: b.BlastingFiltering, BlastingFurnaceGuiOpen: b.BlastingFurnaceGUIOpen,
			SmokerFiltering: b.SmokerFiltering, SmokerGuiOpen: b.SmokerGUIOpen},
	}
	if p.NetherPosition != nil {
		out.NetherPosition = vec3d(*p.NetherPosition)
	}
	if v := p.Vehicle; v != nil {
		out.Vehicle = &pb.Vehicle{Uuid: uuid(v.UUID), Creature: creature(&v.Creature)}
	}
	return out
}

func item(i *scenario.Item) *pb.Item {
	return &pb.Item{Count: int32(i.Count), Slot: uint32(i.Slot), Id: i.ID}
}

func itemList(l []scenario.Item) []*pb.Item {
	out := make([]*pb.Item, len(l))
	for i := range l {
		out[i] = item(&l[i])
	}
	return out
}

func vec3d(v scenario.Vec3d) *pb.Vec3D { return &pb.Vec3D{X: v.X, Y: v.Y, Z: v.Z} }

func uuid(u [4]uint32) *pb.UUID { return &pb.UUID{A: u[0], B: u[1], C: u[2], D: u[3]} }

func creature(c *scenario.Creature) *pb.Creature {
	if c == nil {
		return nil
	}
	return &pb.Creature{
		Id: c.ID, Position: vec3d(c.Position), Motion: vec3d(c.Motion), Yaw: c.Yaw, Pitch: c.Pitch, FallDistance: c.FallDistance,
		Fire: uint32(c.Fire), Air: uint32(c.Air), OnGround: c.OnGround, NoGravity: c.NoGravity, Invulnerable: c.Invulnerable,
		PortalCooldown: c.PortalCooldown, Uuid: uuid(c.UUID), CustomName: c.CustomName,
		NameVisible: c.NameVisible, Silent: c.Silent, Glowing: c.Glowing,
	}
}

func sumSavedata(m *pb.Savedata) uint64 {
	s := scenario.NewSum().U(uint64(len(m.Players)))
	for _, p := range m.Players {
		s = addPlayer(s, p)
	}
	return s.Value()
}

func addPlayer(s scenario.Sum, p *pb.Player) scenario.Sum {
	s = s.U(uint64(p.GameType)).U(uint64(p.PreviousGameType)).U(uint64(p.Score)).Str(p.Dimension).U(uint64(p.SelectedSlot))
	if p.SelectedItem != nil {
		s = addItem(s.U(1), p.SelectedItem)
	} else {
		s = s.U(0)
	}
	if p.SpawnDimension != nil {
		s = s.U(1).Str(*p.SpawnDimension)
	} else {
		s = s.U(0)
	}
	s = s.U(uint64(p.SpawnX)).U(uint64(p.SpawnY)).U(uint64(p.SpawnZ))
	if p.SpawnForced != nil {
		s = s.U(1).B(*p.SpawnForced)
	} else {
		s = s.U(0)
	}
	s = s.U(uint64(p.SleepTimer)).F32(p.FoodExhaustion).F32(p.FoodSaturation).U(uint64(p.FoodTickTimer))
	s = s.U(uint64(p.XpLevel)).F32(p.XpProgress).U(uint64(p.XpTotal)).U(uint64(p.XpSeed))
	s = addItems(addItems(s, p.Inventory), p.EnderItems)
	a := p.Abilities
	s = s.F32(a.WalkSpeed).F32(a.FlySpeed).B(a.MayFly).B(a.Flying).B(a.Invulnerable).B(a.MayBuild).B(a.InstaBuild)
	if n := p.NetherPosition; n != nil {
		s = s.U(1).F64(n.X).F64(n.Y).F64(n.Z)
	} else {
		s = s.U(0)
	}
	if v := p.Vehicle; v != nil {
		s = addCreature(addUUID(s.U(1), v.Uuid), v.Creature)
	} else {
		s = s.U(0)
	}
	s = addCreature(addCreature(s, p.LeftShoulder), p.RightShoulder).B(p.SeenCredits)
	b := p.RecipeBook
	if b == nil {
		return s.U(0)
	}
	s = addStrings(addStrings(s.U(1), b.Recipes), b.Displayed)
	return s.B(b.FilteringCraftable).B(b.GuiOpen).B(b.FurnaceFiltering).B(b.FurnaceGuiOpen).
		B(b.BlastingFiltering).B(b.BlastingFurnaceGuiOpen).B(b.SmokerFiltering).B(b.SmokerGuiOpen)
}

func addItem(s scenario.Sum, i *pb.Item) scenario.Sum {
	return s.U(uint64(i.Count)).U(uint64(i.Slot)).Str(i.Id)
}

func addItems(s scenario.Sum, l []*pb.Item) scenario.Sum {
	s = s.U(uint64(len(l)))
	for _, i := range l {
		s = addItem(s, i)
	}
	return s
}

func addStrings(s scenario.Sum, l []string) scenario.Sum {
	s = s.U(uint64(len(l)))
	for _, v := range l {
		s = s.Str(v)
	}
	return s
}

func addUUID(s scenario.Sum, u *pb.UUID) scenario.Sum {
	return s.U(uint64(u.A)).U(uint64(u.B)).U(uint64(u.C)).U(uint64(u.D))
}

func addCreature(s scenario.Sum, c *pb.Creature) scenario.Sum {
	if c == nil {
		return s.U(0)
	}
	p, m := c.Position, c.Motion
	s = s.U(1).Str(c.Id).F64(p.X).F64(p.Y).F64(p.Z).F64(m.X).F64(m.Y).F64(m.Z).F32(c.Yaw).F32(c.Pitch).F32(c.FallDistance)
	s = s.U(uint64(c.Fire)).U(uint64(c.Air)).B(c.OnGround).B(c.NoGravity).B(c.Invulnerable).U(uint64(c.PortalCooldown))
	s = addUUID(s, c.Uuid)
	if c.CustomName != nil {
		s = s.U(1).Str(*c.CustomName)
	} else {
		s = s.U(0)
	}
	return s.B(c.NameVisible).B(c.Silent).B(c.Glowing)
}
