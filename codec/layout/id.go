package layout

import (
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/crc32c"
)

// makeID writes the schema text: the message types that m reaches, breadth first,
// each once.
func (m *Message) makeID() (uint64, string) {
	index := map[protoreflect.MessageDescriptor]int{m.Desc: 0}
	queue := []*Message{m}
	var b []byte
	for i := 0; i < len(queue); i++ {
		b = append(b, '{')
		for j := range queue[i].Fields {
			f := &queue[i].Fields[j]
			if j > 0 {
				b = append(b, ' ')
			}
			b = strconv.AppendInt(b, int64(f.Number), 10)
			b = append(b, ':')
			if f.Desc.Cardinality() == protoreflect.Repeated {
				b = append(b, '*')
			}
			if f.Child == nil {
				b = append(b, f.Kind.String()...)
				if f.Width != 0 {
					b = append(b, '/')
					b = strconv.AppendInt(b, int64(f.Width), 10)
				}
				continue
			}
			k, ok := index[f.Child.Desc]
			if !ok {
				k = len(queue)
				index[f.Child.Desc] = k
				queue = append(queue, f.Child)
			}
			if f.Inline {
				b = append(b, '=')
			} else {
				b = append(b, '@')
			}
			b = strconv.AppendInt(b, int64(k), 10)
		}
		b = append(b, '}')
	}
	high := crc32c.Checksum([]byte(m.Name()))
	return uint64(high)<<32 | uint64(crc32c.Checksum(b)), string(b)
}

// TypeID is the high half of a schema id: the message type alone.
func TypeID(id uint64) uint32 { return uint32(id >> 32) }
