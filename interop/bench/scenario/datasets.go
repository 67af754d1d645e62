package scenario

//msgp:tuple Address Log Logs Triangle Mesh
//msgp:tuple Item Abilities Vec3d Creature Vehicle RecipeBook Player Savedata

// Address is an IPv4 address.
type Address struct {
	_              struct{} `cbor:",toarray"`
	X0, X1, X2, X3 uint8
}

// Log is one line of a web server's request log.
type Log struct {
	_        struct{} `cbor:",toarray"`
	Address  Address
	Identity string
	UserID   string
	Date     string
	Request  string
	Code     uint16
	Size     uint64
}

// Logs is the data set log.
type Logs struct {
	_    struct{} `cbor:",toarray"`
	Logs []Log
}

// Triangle is one face of a Mesh.
type Triangle struct {
	_                  struct{} `cbor:",toarray"`
	V0, V1, V2, Normal Vec3
}

// Mesh is the data set mesh.
type Mesh struct {
	_         struct{} `cbor:",toarray"`
	Triangles []Triangle
}

// GameType is how a Player plays, 0 to 3.
type GameType uint8

// Item is a stack in an inventory.
type Item struct {
	_     struct{} `cbor:",toarray"`
	Count int8
	Slot  uint8
	ID    string
}

// Abilities is what a Player may do.
type Abilities struct {
	_                   struct{} `cbor:",toarray"`
	WalkSpeed, FlySpeed float32
	MayFly, Flying      bool
	Invulnerable        bool
	MayBuild            bool
	InstaBuild          bool
}

// Vec3d is a value type: three doubles side by side.
type Vec3d struct {
	_       struct{} `cbor:",toarray"`
	X, Y, Z float64
}

// Creature is an animal that a Player rides or carries.
type Creature struct {
	_              struct{} `cbor:",toarray"`
	ID             string
	Position       Vec3d
	Motion         Vec3d
	Yaw, Pitch     float32
	FallDistance   float32
	Fire, Air      uint16
	OnGround       bool
	NoGravity      bool
	Invulnerable   bool
	PortalCooldown int32
	UUID           [4]uint32
	CustomName     *string `json:",omitempty" bson:",omitempty"`
	NameVisible    bool
	Silent         bool
	Glowing        bool
}

// Vehicle is what a Player rides.
type Vehicle struct {
	_        struct{} `cbor:",toarray"`
	UUID     [4]uint32
	Creature Creature
}

// RecipeBook is what a Player has learned to make.
type RecipeBook struct {
	_                      struct{} `cbor:",toarray"`
	Recipes                []string
	Displayed              []string
	FilteringCraftable     bool
	GUIOpen                bool
	FurnaceFiltering       bool
	FurnaceGUIOpen         bool
	BlastingFiltering      bool
	BlastingFurnaceGUIOpen bool
	SmokerFiltering        bool
	SmokerGUIOpen          bool
}

// Player is one saved game.
type Player struct {
	_                struct{} `cbor:",toarray"`
	GameType         GameType
	PreviousGameType GameType
	Score            int64
	Dimension        string
	SelectedSlot     uint32
	SelectedItem     Item
	SpawnDimension   *string `json:",omitempty" bson:",omitempty"`
	SpawnX           int64
	SpawnY           int64
	SpawnZ           int64
	SpawnForced      *bool `json:",omitempty" bson:",omitempty"`
	SleepTimer       uint16
	FoodExhaustion   float32
	FoodSaturation   float32
	FoodTickTimer    uint32
	XPLevel          uint32
	XPProgress       float32
	XPTotal          int32
	XPSeed           int32
	Inventory        []Item
	EnderItems       []Item
	Abilities        Abilities
	NetherPosition   *Vec3d    `json:",omitempty" bson:",omitempty"`
	Vehicle          *Vehicle  `json:",omitempty" bson:",omitempty"`
	LeftShoulder     *Creature `json:",omitempty" bson:",omitempty"`
	RightShoulder    *Creature `json:",omitempty" bson:",omitempty"`
	SeenCredits      bool
	RecipeBook       RecipeBook
}

// Savedata is the data set savedata.
type Savedata struct {
	_       struct{} `cbor:",toarray"`
	Players []Player
}
