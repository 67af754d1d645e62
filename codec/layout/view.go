package layout

// Near is how many fields of a message type views reach with one load less.
const Near = 16

// View is what views need of a plan. It is immutable.
type View struct {
	Near [Near]Slot // of the first fields
	Far  []Slot     // of the others

	Plan   *Plan
	Step   uint32     // bytes from one row to the next
	Ends   bool       // rows have ends
	Edit   bool       // rows may be changed
	Twin   *View      // the view of which Edit is the opposite
	Kids   []*Message // for each of Plan.Msg.Fields its message type, nil if it has none
	Oneofs [][]Case   // of each oneof the members that the shape has, the highest number first
}

// Case is where a row tells whether a member of a oneof is set.
type Case struct {
	Byte   uint32 // of the presence bit
	Mask   uint8
	Number int32 // of the field
}

// Slot is where a getter finds field i, in order of number.
func (v *View) Slot(i int) *Slot {
	if i < Near {
		return &v.Near[i]
	}
	return &v.Far[i-Near]
}

// nowhere is the slot of a variable field that the shape lacks: it ends where it begins, so
// that getters need not ask. They may load it: four bytes behind the first of a row are
// inside the frame, whose CRC follows the message.
var nowhere = Slot{Off: 1, Prev: 1}

// View is what views need of the plan.
func (p *Plan) View() *View {
	if v := p.view.Load(); v != nil {
		return v
	}
	p.view.CompareAndSwap(nil, newView(p))
	return p.view.Load()
}

func newView(p *Plan) *View {
	n := len(p.Slots)
	slots := make([]Slot, max(n, Near))
	copy(slots, p.Slots)
	v := &View{
		Plan: p, Far: slots[Near:], Kids: make([]*Message, n),
		Step: p.Rows.Stride, Ends: p.Rows.Ends > 0,
	}
	for i := range p.Msg.Fields {
		f := &p.Msg.Fields[i]
		v.Kids[i] = f.Child
		if slots[i].Mask == 0 && f.Variable() {
			slots[i] = nowhere
		}
		if s := slots[i]; f.Oneof >= 0 {
			for len(v.Oneofs) <= f.Oneof {
				v.Oneofs = append(v.Oneofs, nil)
			}
			if s.Mask != 0 {
				c := Case{Byte: s.Byte, Mask: uint8(s.Mask), Number: f.Number}
				v.Oneofs[f.Oneof] = append([]Case{c}, v.Oneofs[f.Oneof]...)
			}
		}
	}
	copy(v.Near[:], slots)
	edit := *v
	edit.Edit = true
	v.Twin, edit.Twin = &edit, v
	return v
}

// ViewFor is the view of rows whose shape stands at the start of b, nil if there is none
// or the type can't have it.
func (m *Message) ViewFor(b []byte) (*View, int) {
	if p := m.shapes.full.Load(); p != nil {
		if s := p.Rows.Shape; len(b) >= len(s) && string(b[:len(s)]) == string(s) {
			return p.View(), len(s)
		}
	}
	p, err := m.PlanFor(b)
	if err != nil {
		return nil, 0
	}
	return p.View(), len(p.Rows.Shape)
}
