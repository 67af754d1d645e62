package scenario

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// A source of everything random here: PCG with the seed, the same on every
// machine and with every Go release.
type source struct{ *rand.Rand }

func newSource(seed uint64) source { return source{rand.New(rand.NewPCG(seed, 0x67726176656e))} }

func (r source) coin() bool { return r.Uint64()&1 == 1 }

func (r source) of(words []string) string { return words[r.IntN(len(words))] }

const letters = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

func (r source) ascii(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return string(b)
}

func (r source) millis() int64 { return 1_750_000_000_000 + r.Int64N(1<<34) }

var currencies = []string{"EUR", "USD", "GBP", "JPY", "CHF"}

// NewTransaction makes bank/n: about half of the entries have a memo of 8 to 40
// ASCII bytes.
func NewTransaction(n int, seed uint64) *Transaction {
	r := newSource(seed)
	t := &Transaction{
		ID:        r.Uint64N(1 << 48),
		Timestamp: r.millis(),
		Reference: r.ascii(12 + r.IntN(11)),
		Currency:  r.of(currencies),
		Entries:   make([]Entry, n),
	}
	for i := range t.Entries {
		e := &t.Entries[i]
		e.Account = 1_000_000_000 + r.Uint64N(9_000_000_000)
		e.Amount = r.Int64N(20_000_000) - 10_000_000 // cents
		if r.coin() {
			s := r.ascii(8 + r.IntN(33))
			e.Memo = &s
		}
	}
	return t
}

func (r source) vec3(size float32) Vec3 {
	return Vec3{X: (r.Float32() - 0.5) * size, Y: (r.Float32() - 0.5) * size, Z: (r.Float32() - 0.5) * size}
}

// NewFrame makes frame/n.
func NewFrame(n int, seed uint64) *Frame {
	r := newSource(seed)
	f := &Frame{Tick: r.Uint64N(1 << 24), Entities: make([]Entity, n)}
	for i := range f.Entities {
		f.Entities[i] = Entity{
			ID:       uint32(1000 + i*3 + r.IntN(3)),
			Position: r.vec3(2000), Velocity: r.vec3(20),
			Health: uint16(1 + r.IntN(1000)), Flag: r.coin(),
		}
	}
	return f
}

// NewTelemetry makes a reading; the odd seeds have humidity.
func NewTelemetry(seed uint64) *Telemetry {
	r := newSource(seed)
	t := &Telemetry{
		Device:      r.Uint32N(1 << 20),
		Timestamp:   uint64(r.millis()),
		Temperature: 15 + r.Float32()*20,
		Battery:     uint8(r.IntN(101)),
	}
	if seed%2 == 1 {
		h := r.Float32() * 100
		t.Humidity = &h
	}
	return t
}

// NewChunk makes chunk/n, of random bytes.
func NewChunk(n int, seed uint64) *Chunk {
	r := newSource(seed)
	c := &Chunk{Stream: r.Uint32N(1 << 16), Seq: 1 + r.Uint64N(1<<32), Last: r.coin()}
	for len(c.Payload) < n {
		c.Payload = binary.LittleEndian.AppendUint64(c.Payload, r.Uint64())
	}
	c.Payload = c.Payload[:n]
	return c
}

var (
	users     = []string{"-", "anna", "bela", "chloe", "dario", "emil", "fritz", "gloria", "hugo", "ines"}
	months    = []string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}
	methods   = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}
	routes    = []string{"/favicon.ico", "/css/main.css", "/css/fonts/regular.woff2", "/img/logo-small.svg", "/img/front.jpg", "/api/login", "/api/logout"}
	protocols = []string{"HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/3"}
	codes     = []uint16{200, 201, 204, 301, 304, 400, 401, 403, 404, 500, 503}
)

// NewLogs makes the data set log with n lines.
func NewLogs(n int, seed uint64) *Logs {
	r := newSource(seed)
	m := &Logs{Logs: make([]Log, n)}
	for i := range m.Logs {
		m.Logs[i] = Log{
			Address:  Address{X0: uint8(r.Uint32()), X1: uint8(r.Uint32()), X2: uint8(r.Uint32()), X3: uint8(r.Uint32())},
			Identity: "-",
			UserID:   r.of(users),
			Date: fmt.Sprintf("%d/%s/%d:%d:%d:%d %+03d00", 1+r.IntN(28), r.of(months), 1970+r.IntN(56),
				r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(25)-12),
			Request: r.of(methods) + " " + r.of(routes) + " " + r.of(protocols),
			Code:    codes[r.IntN(len(codes))],
			Size:    1 + r.Uint64N(100_000_000),
		}
	}
	return m
}

// NewMesh makes the data set mesh with n triangles.
func NewMesh(n int, seed uint64) *Mesh {
	r := newSource(seed)
	v := func() Vec3 { return Vec3{X: r.Float32(), Y: r.Float32(), Z: r.Float32()} }
	m := &Mesh{Triangles: make([]Triangle, n)}
	for i := range m.Triangles {
		m.Triangles[i] = Triangle{V0: v(), V1: v(), V2: v(), Normal: v()}
	}
	return m
}

var (
	items      = []string{"dirt", "stone", "hammer", "sand", "gravel", "shovel", "breastplate", "bread"}
	dimensions = []string{"overworld", "nether", "end"}
	creatures  = []string{"cow", "sheep", "zombie", "skeleton", "spider", "horse", "parrot", "bee"}
	names      = []string{"sunbeam", "princess", "otto", "johanna", "missy", "coward", "fairy", "howard"}
	recipes    = []string{"hammer", "torch", "bow", "crafting table", "furnace", "shears", "arrow", "ladder"}
)

// NewSavedata makes the data set savedata with n players.
func NewSavedata(n int, seed uint64) *Savedata {
	r := newSource(seed)
	m := &Savedata{Players: make([]Player, n)}
	for i := range m.Players {
		m.Players[i] = r.player()
	}
	return m
}

func (r source) player() Player {
	p := Player{
		GameType:         GameType(r.IntN(4)),
		PreviousGameType: GameType(r.IntN(4)),
		Score:            int64(r.Uint64()),
		Dimension:        r.of(dimensions),
		SelectedSlot:     r.Uint32(),
		SelectedItem:     r.item(),
		SpawnX:           int64(r.Uint64()),
		SpawnY:           int64(r.Uint64()),
		SpawnZ:           int64(r.Uint64()),
		SleepTimer:       uint16(r.Uint32()),
		FoodExhaustion:   r.Float32(),
		FoodSaturation:   r.Float32(),
		FoodTickTimer:    r.Uint32(),
		XPLevel:          r.Uint32(),
		XPProgress:       r.Float32(),
		XPTotal:          int32(r.Uint32()),
		XPSeed:           int32(r.Uint32()),
		Inventory:        r.items(r.IntN(40)),
		EnderItems:       r.items(r.IntN(27)),
		Abilities: Abilities{
			WalkSpeed: r.Float32(), FlySpeed: r.Float32(),
			MayFly: r.coin(), Flying: r.coin(), Invulnerable: r.coin(), MayBuild: r.coin(), InstaBuild: r.coin(),
		},
		SeenCredits: r.coin(),
		RecipeBook: RecipeBook{
			Recipes: r.words(recipes, r.IntN(30)), Displayed: r.words(recipes, r.IntN(10)),
			FilteringCraftable: r.coin(), GUIOpen: r.coin(), FurnaceFiltering: r.coin(), FurnaceGUIOpen: r.coin(),
			BlastingFiltering: r.coin(), BlastingFurnaceGUIOpen: r.coin(), SmokerFiltering: r.coin(), SmokerGUIOpen: r.coin(),
		},
	}
	if r.coin() {
		s := r.of(dimensions)
		p.SpawnDimension = &s
	}
	if r.coin() {
		b := r.coin()
		p.SpawnForced = &b
	}
	if r.coin() {
		v := r.vec3d()
		p.NetherPosition = &v
	}
	if r.coin() {
		p.Vehicle = &Vehicle{UUID: r.uuid(), Creature: r.creature()}
	}
	if r.coin() {
		c := r.creature()
		p.LeftShoulder = &c
	}
	if r.coin() {
		c := r.creature()
		p.RightShoulder = &c
	}
	return p
}

func (r source) item() Item {
	return Item{Count: int8(r.Uint32()), Slot: uint8(r.Uint32()), ID: r.of(items)}
}

func (r source) items(n int) []Item {
	l := make([]Item, n)
	for i := range l {
		l[i] = r.item()
	}
	return l
}

func (r source) words(of []string, n int) []string {
	l := make([]string, n)
	for i := range l {
		l[i] = r.of(of)
	}
	return l
}

func (r source) vec3d() Vec3d { return Vec3d{X: r.Float64(), Y: r.Float64(), Z: r.Float64()} }

func (r source) uuid() [4]uint32 {
	return [4]uint32{r.Uint32(), r.Uint32(), r.Uint32(), r.Uint32()}
}

func (r source) creature() Creature {
	c := Creature{
		ID: r.of(creatures), Position: r.vec3d(), Motion: r.vec3d(),
		Yaw: r.Float32(), Pitch: r.Float32(), FallDistance: r.Float32(),
		Fire: uint16(r.Uint32()), Air: uint16(r.Uint32()),
		OnGround: r.coin(), NoGravity: r.coin(), Invulnerable: r.coin(),
		PortalCooldown: int32(r.Uint32()), UUID: r.uuid(),
		NameVisible: r.coin(), Silent: r.coin(), Glowing: r.coin(),
	}
	if r.coin() {
		s := r.of(names)
		c.CustomName = &s
	}
	return c
}
