package scenario

import "math"

// Message is a message of a scenario as a plain Go struct.
type Message interface {
	// Sum is the checksum over all values.
	Sum() uint64
	// One is the value of the field that the read-one-field benchmarks read:
	// id of a transaction, health of a frame's middle entity, temperature of
	// telemetry, seq of a chunk, code of the middle log line, x of the middle
	// triangle's normal, score of the middle player,
	// start of a span.
	One() uint64
	// Update sets the fields that the update-in-place benchmarks set, to values
	// that are always the same and not zero: id, every entity's position.x and
	// health, temperature, seq, every line's code and size, every normal, every
	// player's score and spawn, every span's end.
	Update()
}

// Bits is a float's bits as One gives them.
func Bits(f float32) uint64 { return uint64(math.Float32bits(f)) }

// Sum implements Message.
func (m *Transaction) Sum() uint64 {
	s := NewSum().U(m.ID).U(uint64(m.Timestamp)).Str(m.Reference).Str(m.Currency).U(uint64(len(m.Entries)))
	for i := range m.Entries {
		e := &m.Entries[i]
		s = s.U(e.Account).U(uint64(e.Amount))
		if e.Memo != nil {
			s = s.U(1).Str(*e.Memo)
		} else {
			s = s.U(0)
		}
	}
	return s.Value()
}

// One implements Message.
func (m *Transaction) One() uint64 { return m.ID }

// Sum implements Message.
func (m *Frame) Sum() uint64 {
	s := NewSum().U(m.Tick).U(uint64(len(m.Entities)))
	for i := range m.Entities {
		e := &m.Entities[i]
		p, v := &e.Position, &e.Velocity
		s = s.U(uint64(e.ID)).V3(p.X, p.Y, p.Z).V3(v.X, v.Y, v.Z).U(uint64(e.Health)).B(e.Flag)
	}
	return s.Value()
}

// One implements Message.
func (m *Frame) One() uint64 { return uint64(m.Entities[len(m.Entities)/2].Health) }

// Sum implements Message.
func (m *Telemetry) Sum() uint64 {
	s := NewSum().U(uint64(m.Device)).U(m.Timestamp).F32(m.Temperature)
	if m.Humidity != nil {
		s = s.U(1).F32(*m.Humidity)
	} else {
		s = s.U(0)
	}
	return s.U(uint64(m.Battery)).Value()
}

// One implements Message.
func (m *Telemetry) One() uint64 { return Bits(m.Temperature) }

// Sum implements Message.
func (m *Chunk) Sum() uint64 {
	return NewSum().U(uint64(m.Stream)).U(m.Seq).B(m.Last).Bytes(m.Payload).Value()
}

// One implements Message.
func (m *Chunk) One() uint64 { return m.Seq }

// Sum implements Message.
func (m *Logs) Sum() uint64 {
	s := NewSum().U(uint64(len(m.Logs)))
	for i := range m.Logs {
		l := &m.Logs[i]
		a := l.Address
		s = s.U(uint64(a.X0)).U(uint64(a.X1)).U(uint64(a.X2)).U(uint64(a.X3))
		s = s.Str(l.Identity).Str(l.UserID).Str(l.Date).Str(l.Request).U(uint64(l.Code)).U(l.Size)
	}
	return s.Value()
}

// One implements Message.
func (m *Logs) One() uint64 { return uint64(m.Logs[len(m.Logs)/2].Code) }

// Sum implements Message.
func (m *Mesh) Sum() uint64 {
	s := NewSum().U(uint64(len(m.Triangles)))
	for i := range m.Triangles {
		t := &m.Triangles[i]
		s = s.V3(t.V0.X, t.V0.Y, t.V0.Z).V3(t.V1.X, t.V1.Y, t.V1.Z)
		s = s.V3(t.V2.X, t.V2.Y, t.V2.Z).V3(t.Normal.X, t.Normal.Y, t.Normal.Z)
	}
	return s.Value()
}

// One implements Message.
func (m *Mesh) One() uint64 { return Bits(m.Triangles[len(m.Triangles)/2].Normal.X) }

// Sum implements Message.
func (m *Savedata) Sum() uint64 {
	s := NewSum().U(uint64(len(m.Players)))
	for i := range m.Players {
		s = m.Players[i].add(s)
	}
	return s.Value()
}

// One implements Message.
func (m *Savedata) One() uint64 { return uint64(m.Players[len(m.Players)/2].Score) }

func (p *Player) add(s Sum) Sum {
	s = s.U(uint64(p.GameType)).U(uint64(p.PreviousGameType)).U(uint64(p.Score)).Str(p.Dimension).U(uint64(p.SelectedSlot))
	s = p.SelectedItem.add(s.U(1))
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
	s = s.U(uint64(p.XPLevel)).F32(p.XPProgress).U(uint64(p.XPTotal)).U(uint64(p.XPSeed))
	s = addItems(addItems(s, p.Inventory), p.EnderItems)
	a := &p.Abilities
	s = s.F32(a.WalkSpeed).F32(a.FlySpeed).B(a.MayFly).B(a.Flying).B(a.Invulnerable).B(a.MayBuild).B(a.InstaBuild)
	if n := p.NetherPosition; n != nil {
		s = s.U(1).F64(n.X).F64(n.Y).F64(n.Z)
	} else {
		s = s.U(0)
	}
	if v := p.Vehicle; v != nil {
		s = addUUID(s.U(1), &v.UUID)
		s = v.Creature.add(s.U(1))
	} else {
		s = s.U(0)
	}
	s = addCreature(addCreature(s, p.LeftShoulder), p.RightShoulder)
	s = s.B(p.SeenCredits).U(1)
	b := &p.RecipeBook
	s = addStrings(addStrings(s, b.Recipes), b.Displayed)
	return s.B(b.FilteringCraftable).B(b.GUIOpen).B(b.FurnaceFiltering).B(b.FurnaceGUIOpen).
		B(b.BlastingFiltering).B(b.BlastingFurnaceGUIOpen).B(b.SmokerFiltering).B(b.SmokerGUIOpen)
}

func (i *Item) add(s Sum) Sum { return s.U(uint64(i.Count)).U(uint64(i.Slot)).Str(i.ID) }

func addItems(s Sum, items []Item) Sum {
	s = s.U(uint64(len(items)))
	for i := range items {
		s = items[i].add(s)
	}
	return s
}

func addStrings(s Sum, l []string) Sum {
	s = s.U(uint64(len(l)))
	for _, v := range l {
		s = s.Str(v)
	}
	return s
}

func addUUID(s Sum, u *[4]uint32) Sum {
	return s.U(uint64(u[0])).U(uint64(u[1])).U(uint64(u[2])).U(uint64(u[3]))
}

func addCreature(s Sum, c *Creature) Sum {
	if c == nil {
		return s.U(0)
	}
	return c.add(s.U(1))
}

func (c *Creature) add(s Sum) Sum {
	p, m := &c.Position, &c.Motion
	s = s.Str(c.ID).F64(p.X).F64(p.Y).F64(p.Z).F64(m.X).F64(m.Y).F64(m.Z).F32(c.Yaw).F32(c.Pitch).F32(c.FallDistance)
	s = s.U(uint64(c.Fire)).U(uint64(c.Air)).B(c.OnGround).B(c.NoGravity).B(c.Invulnerable).U(uint64(c.PortalCooldown))
	s = addUUID(s, &c.UUID)
	if c.CustomName != nil {
		s = s.U(1).Str(*c.CustomName)
	} else {
		s = s.U(0)
	}
	return s.B(c.NameVisible).B(c.Silent).B(c.Glowing)
}

// Zero returns a function that makes empty messages of m's type, or nil if m is
// not of plain structs.
func Zero(m Message) func() Message {
	switch m.(type) {
	case *Transaction:
		return func() Message { return new(Transaction) }
	case *Frame:
		return func() Message { return new(Frame) }
	case *Telemetry:
		return func() Message { return new(Telemetry) }
	case *Chunk:
		return func() Message { return new(Chunk) }
	case *Logs:
		return func() Message { return new(Logs) }
	case *Mesh:
		return func() Message { return new(Mesh) }
	case *Savedata:
		return func() Message { return new(Savedata) }
	}
	return nil
}
