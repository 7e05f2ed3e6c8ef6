"""Autograd: the graph that recorded calls leave behind, and backward through it.

What an emitted node looks like. It is made without arguments; `edges` stands in schema order, with
None where an input needs no gradient; `apply` returns one entry per edge.

    class MulBackward0(Node):
        __slots__ = ("_other", "_self")

        def apply(self, grad):
            to_self, to_other = self.edges
            return (
                None if to_self is None else grad * conj(unpack(self._other, self)),
                None if to_other is None else grad * conj(unpack(self._self, self)),
            )

        def release(self):          # saved tensors only: numbers and sizes stay
            self._self = self._other = None

What an emitted wrapper does, per form of the result:

    result = below(self, other)                     # bumps the version itself if it writes
    if grad_mode.is_enabled():
        node = MulBackward0()
        node.edges = (gradient_edge(self), gradient_edge(other))   # None for what needs none
        node._self = save(self)                     # a result: save_result(result, nr)
        attach(result, node)

    attach(result, node)                            # one tensor
    attach_outputs(results, node, differentiable)   # several: node is a MultiOutputNode
    attach_view(result, self, node)                 # a view; unrecorded: track_view(result, self)
    attach_views(results, self, node)               # several views of one tensor
    check_inplace(self) first, the node, below, then rebase_history(self, node)   # in-place

An in-place call takes its edges and saves its arguments before `below` writes, and its result
after. A list argument contributes `*gradient_edges(tensors)`, saved by `save_all`/`unpack_all`.
Missing gradients never reach `apply`: of several outputs, those that had no influence are zeros.
"""
