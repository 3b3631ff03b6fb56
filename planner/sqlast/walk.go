package sqlast

import (
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Walk visits every node below and including node, parents first. visit returns false to leave a node's children out. It goes by reflection:
// for tools that rewrite a tree now and then, not for a path that is run often.
func Walk(node *Node, visit func(*Node) bool) {
	if node == nil || !visit(node) {
		return
	}
	walkMessage(node.ProtoReflect(), visit)
}

func walkMessage(m protoreflect.Message, visit func(*Node) bool) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Kind() != protoreflect.MessageKind:
		case field.IsList():
			list := value.List()
			for i := range list.Len() {
				walkValue(list.Get(i).Message(), visit)
			}
		default:
			walkValue(value.Message(), visit)
		}
		return true
	})
}

func walkValue(m protoreflect.Message, visit func(*Node) bool) {
	if n, ok := m.Interface().(*Node); ok {
		Walk(n, visit)
		return
	}
	walkMessage(m, visit)
}
