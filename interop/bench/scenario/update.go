package scenario

// Update implements Message.
func (m *Transaction) Update() { m.ID = 7 }

// Update implements Message.
func (m *Frame) Update() {
	for i := range m.Entities {
		e := &m.Entities[i]
		e.Position.X = 1
		e.Health = 100
	}
}

// Update implements Message.
func (m *Telemetry) Update() { m.Temperature = 21.5 }

// Update implements Message.
func (m *Chunk) Update() { m.Seq = 7 }

// Update implements Message.
func (m *Logs) Update() {
	for i := range m.Logs {
		l := &m.Logs[i]
		l.Code = 200
		l.Size = 1000
	}
}

// Update implements Message.
func (m *Mesh) Update() {
	for i := range m.Triangles {
		m.Triangles[i].Normal = Vec3{X: 0, Y: 0, Z: 1}
	}
}

// Update implements Message.
func (m *Savedata) Update() {
	for i := range m.Players {
		p := &m.Players[i]
		p.Score = 1
		p.SpawnX, p.SpawnY, p.SpawnZ = 1, 2, 3
	}
}
