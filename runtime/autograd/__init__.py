r'''Autograd: the graph that recorded calls leave behind, and backward through it.

An emitted node, and the maker of the calls that record it, one for each signature:

    class DotBackward0(Node):
        """dot
        self: grad * tensor.conj()
        tensor: grad * self.conj()
        """

        __slots__ = ("saved_self", "saved_tensor")

        def apply(node, grad):
            edges = node.edges
            grad_self: Any = None
            grad_tensor: Any = None
            if edges[0] is not None:
                tensor = unpack(node.saved_tensor, node)
                grad_self = grad * formulas.conj(tensor)
            if edges[1] is not None:
                self = unpack(node.saved_self, node)
                grad_tensor = grad * formulas.conj(self)
            return grad_self, grad_tensor

        def release(node):
            node.saved_tensor = None
            node.saved_self = None

    def recording_dot(below, needs_self, needs_tensor):
        """Records DotBackward0 around `below`."""

        def call(self, tensor):
            result = below(self, tensor)
            if not grad_mode.state.enabled:
                return result
            node = DotBackward0()
            node.edges = (
                gradient_edge(self) if needs_self else None,
                gradient_edge(tensor) if needs_tensor else None,
            )
            if needs_self:
                node.saved_tensor = save(tensor)
            if needs_tensor:
                node.saved_self = save(self)
            attach(result, node)
            return result

        return call

A node is made without arguments; `edges` stands in schema order, with None where an input needs no
gradient; `apply` returns one entry per edge; `release` drops saved tensors only, numbers and sizes
stay. How it becomes the history of the result depends on the form of that:

    attach(result, node)                            # one tensor
    attach_unary(result, self, node)                # one of one: takes the edge as well
    attach_outputs(results, node, differentiable)   # several: node is a MultiOutputNode
    attach_view(result, self, node)                 # a view, the same; unrecorded: track_view
    attach_views(results, self, node)               # several views of one tensor
    check_inplace(self) first, the node, below, then rebase_history(self, node)   # in-place

An in-place call takes its edges and saves its arguments before `below` writes, and its result
after. A list argument contributes `*gradient_edges(tensors)`, saved by `save_all`/`unpack_all`.
Missing gradients never reach `apply`: of several outputs, those that had no influence are zeros.

Where one kernel gives all gradients, the node is data, a `fused.FusedNode`: its kernels by which
inputs need a gradient. What it saves and does follows from the kernel.
'''
