package scenario

//msgp:ignore Scenario Sum source
//msgp:tuple Entry Transaction Vec3 Entity Frame Telemetry Chunk

// Entry is one posting of a Transaction.
type Entry struct {
	_       struct{} `cbor:",toarray"`
	Account uint64
	Amount  int64
	Memo    *string `json:",omitempty" bson:",omitempty"`
}

// Transaction is bank/n: a payment with n postings.
type Transaction struct {
	_         struct{} `cbor:",toarray"`
	ID        uint64
	Timestamp int64 // milliseconds since 1970
	Reference string
	Currency  string
	Entries   []Entry
}

// Vec3 is a value type: three floats side by side.
type Vec3 struct {
	_       struct{} `cbor:",toarray"`
	X, Y, Z float32
}

// Entity is one moving thing of a Frame.
type Entity struct {
	_        struct{} `cbor:",toarray"`
	ID       uint32
	Position Vec3
	Velocity Vec3
	Health   uint16
	Flag     bool
}

// Frame is frame/n: a tick of a game with n entities.
type Frame struct {
	_        struct{} `cbor:",toarray"`
	Tick     uint64
	Entities []Entity
}

// Telemetry is one reading of a sensor.
type Telemetry struct {
	_           struct{} `cbor:",toarray"`
	Device      uint32
	Timestamp   uint64 // milliseconds since 1970
	Temperature float32
	Humidity    *float32 `json:",omitempty" bson:",omitempty"`
	Battery     uint8
}

// Chunk is chunk/n: n bytes of a stream.
type Chunk struct {
	_       struct{} `cbor:",toarray"`
	Stream  uint32
	Seq     uint64
	Last    bool
	Payload []byte
}
