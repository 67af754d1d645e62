// Command otlpdesc prints the descriptors of OpenTelemetry's traces as a
// FileDescriptorSet, or with -names the names of the Go types of its messages.
package main

import (
	"flag"
	"fmt"
	"os"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	trace "go.opentelemetry.io/proto/otlp/trace/v1"
)

func main() {
	names := flag.Bool("names", false, "print names of Go types")
	flag.Parse()
	seen := map[string]bool{}
	set := new(descriptorpb.FileDescriptorSet)
	var add func(protoreflect.FileDescriptor)
	add = func(fd protoreflect.FileDescriptor) {
		if seen[fd.Path()] {
			return
		}
		seen[fd.Path()] = true
		for i := range fd.Imports().Len() {
			add(fd.Imports().Get(i).FileDescriptor)
		}
		set.File = append(set.File, protodesc.ToFileDescriptorProto(fd))
		if *names {
			printNames("", fd.Messages())
		}
	}
	add(trace.File_opentelemetry_proto_trace_v1_trace_proto)
	if *names {
		return
	}
	b, err := proto.Marshal(set)
	if err == nil {
		_, err = os.Stdout.Write(b)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "otlpdesc:", err)
		os.Exit(1)
	}
}

func printNames(prefix string, mds protoreflect.MessageDescriptors) {
	for i := range mds.Len() {
		md := mds.Get(i)
		fmt.Println(prefix + string(md.Name()))
		printNames(prefix+string(md.Name())+"_", md.Messages())
	}
}
