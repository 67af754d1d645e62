package scenario

// Scenario is a message, or a data set, that implementations are measured on.
type Scenario struct {
	// Name is what tables call it, such as bank/100.
	Name string
	// DataSet tells the data sets from the format's own messages.
	DataSet bool
	// New makes the message of a seed.
	New func(seed uint64) Message
	// Small makes a message of the same kind that is quick to check; nil where
	// the message itself is.
	Small func(seed uint64) Message
}

// Names of the scenarios.
const (
	Bank1       = "bank/1"
	Bank10      = "bank/10"
	Bank100     = "bank/100"
	Frame10     = "frame/10"
	Frame500    = "frame/500"
	Telem       = "telemetry"
	Chunk64     = "chunk/64"
	Chunk65536  = "chunk/65536"
	Log10k      = "log"
	Mesh125k    = "mesh"
	Savedata500 = "savedata"
	OTLP        = "otlp"
)

// All lists the scenarios in the order of the tables.
var All = []Scenario{
	{Name: Bank1, New: func(s uint64) Message { return NewTransaction(1, s) }},
	{Name: Bank10, New: func(s uint64) Message { return NewTransaction(10, s) }},
	{Name: Bank100, New: func(s uint64) Message { return NewTransaction(100, s) }},
	{Name: Frame10, New: func(s uint64) Message { return NewFrame(10, s) }},
	{Name: Frame500, New: func(s uint64) Message { return NewFrame(500, s) }},
	{Name: Telem, New: func(s uint64) Message { return NewTelemetry(s) }},
	{Name: Chunk64, New: func(s uint64) Message { return NewChunk(64, s) }},
	{Name: Chunk65536, New: func(s uint64) Message { return NewChunk(65536, s) }},
	{Name: Log10k, DataSet: true,
		New:   func(s uint64) Message { return NewLogs(10_000, s) },
		Small: func(s uint64) Message { return NewLogs(200, s) }},
	{Name: Mesh125k, DataSet: true,
		New:   func(s uint64) Message { return NewMesh(125_000, s) },
		Small: func(s uint64) Message { return NewMesh(500, s) }},
	{Name: Savedata500, DataSet: true,
		New:   func(s uint64) Message { return NewSavedata(500, s) },
		Small: func(s uint64) Message { return NewSavedata(10, s) }},
	{Name: OTLP, DataSet: true,
		New:   func(s uint64) Message { return NewTraces(500, s) },
		Small: func(s uint64) Message { return NewTraces(60, s) }},
}
