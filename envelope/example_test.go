package envelope_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/graven-rpc/graven/envelope"
)

func ExampleSeal() {
	// Room for the header in front and for the CRC behind: nothing is moved.
	buf := make([]byte, envelope.HeaderSize, 64)
	buf = append(buf, "message"...)
	frame, err := envelope.Seal(buf, 0x12F4A0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(frame), "bytes")

	id, message, err := envelope.Open(frame, 1<<20)
	fmt.Printf("%x %s %v\n", id, message, err)
	// Output:
	// 31 bytes
	// 12f4a0 message <nil>
}

func ExampleOpen_incomplete() {
	frame, _ := envelope.Seal(make([]byte, envelope.HeaderSize+100), 1)
	_, _, err := envelope.Open(frame[:40], 0)
	var e *envelope.Error
	if errors.As(err, &e) && errors.Is(err, envelope.ErrIncomplete) {
		fmt.Println("need", e.Need, "bytes, have", e.Have)
	}
	// Output: need 124 bytes, have 40
}

func ExampleReader() {
	var file bytes.Buffer
	w := envelope.NewWriter(&file, 4096)
	for _, s := range []string{"one", "two", "three"} {
		if err := w.WriteMessage(1, []byte(s)); err != nil {
			fmt.Println(err)
		}
	}
	if err := w.Flush(); err != nil {
		fmt.Println(err)
	}
	file.Bytes()[50] ^= 1 // in the message of the second frame

	r := envelope.NewReader(&file, 1<<20)
	for {
		frame, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			n, _ := r.Skip()
			fmt.Println("skipped", n, "bytes")
			continue
		}
		fmt.Printf("%s\n", frame[envelope.HeaderSize:len(frame)-envelope.TrailerSize])
	}
	// Output:
	// one
	// envelope: checksum mismatch: the bytes give 0x3245942B, the frame says 0x3245942A, in the frame at offset 27 of the stream
	// skipped 27 bytes
	// three
}
