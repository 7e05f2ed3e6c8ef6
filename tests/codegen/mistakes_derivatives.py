"""Mistakes in derivatives.yaml."""

from mistake import wrong, wrong_derivative

OF_DERIVATIVES = [
    # Derivatives
    wrong(
        "argument called grad",
        "mm(Tensor self, Tensor mat2)",
        "mm(Tensor self, ‸Tensor grad)",
        "E417",
        "hides",
    ),
    wrong_derivative(
        "bracket",
        "grad.transpose(dim0, dim1)",
        "grad.transpose‸(dim0, dim1",
        "E401",
        "never closed",
    ),
    wrong_derivative(
        "bracket too many",
        "grad.transpose(dim0, dim1)",
        "grad.transpose(dim0, dim1)‸)",
        "E401",
        "no opening",
    ),
    *(
        wrong_derivative(
            f"no formula: {what}", "self: grad * other", f"self: {text}", "E412", f"contain {what}"
        )
        for what, text in (
            ("a lambda", "grad * (‸lambda x:x)(other)"),
            ("a generator", "grad * sum‸(x for x in other)"),
            ("a set comprehension", "grad * other + ‸{x for x in other}"),
            ("a dictionary comprehension", "grad * other + ‸{x:x for x in other}"),
            ("an assignment", "grad * (‸y := other)"),
            ("await", "grad * (‸await other)"),
            ("yield", "grad * (‸yield other)"),
            ("an argument with `*`", "grad.mul(‸*other)"),
            ("an argument with `**`", "grad.mul(other, ‸**other)"),
            ("an f-string", "grad.mul(other, ‸f'{other}')"),
            ("a dictionary", "grad.mul(other, [‸{}])"),
        )
    ),
    wrong_derivative("no Python", "self: grad * other", "self: grad * other if‸", "E402", "Python"),
    wrong_derivative("unknown operator", "- name: mm\n", "- name: ‸mmm\n", "E403", "mmm"),
    wrong_derivative(
        "unknown overload", "- name: mul.Tensor", "- name: ‸mul.Tensors", "E403", "mul.Tensors"
    ),
    wrong_derivative(
        "unknown argument", "  other: grad * self", "  ‸othr: grad * self", "E404", "othr"
    ),
    wrong_derivative(
        "two entries",
        "- name: zero_\n",
        "- name: softplus\n  self: auto\n\n- name: zero_\n",
        "E405",
        "two derivative entries",
    ),
    wrong_derivative("argument forgotten", "  other: grad * self\n", "", "E406", "'other'"),
    wrong_derivative(
        "auto of a view", "self: grad.transpose(dim0, dim1)", "self: ‸auto", "E407", "auto"
    ),
    wrong_derivative("flags", "[True, False]", "‸[True]", "E408", "2 results"),
    wrong_derivative(
        "missing gradients",
        "[True, False]",
        "[True, False]\n  missing_gradients: ‸zeros",
        "E430",
        "none",
    ),
    wrong_derivative(
        "second gradients",
        "[True, False]",
        "[True, False]\n  second_gradients: ‸zeros",
        "E431",
        "zero or none",
    ),
    wrong_derivative(
        "what is saved", "[True, False]", "[True, False]\n  saves: ‸result", "E432", "operands"
    ),
    wrong_derivative(
        "what a formula saves",
        "- name: mul.Tensor",
        "- name: ‸mul.Tensor\n  saves: operands",
        "E433",
        "auto",
    ),
    wrong_derivative(
        "argument in two keys",
        "  other: grad * self",
        "  other: grad * self\n  ‸other, self: grad",
        "E409",
        "twice",
    ),
    wrong_derivative(
        "gradient of an int",
        "  self: grad.transpose(dim0, dim1)",
        "  self: grad.transpose(dim0, dim1)\n  ‸dim0: grad",
        "E410",
        "int",
    ),
    wrong_derivative(
        "other schema", "int dim0, int dim1)", "int dim0, ‸int dim2)", "E411", "differs"
    ),
    wrong_derivative(
        "gradient of no result",
        "  self: grad * other",
        "  self: ‸grads[1] * other",
        "E413",
        "grads[1]",
    ),
    wrong_derivative(
        "no derivative",
        "- name: mm\n  self, mat2: mm_backward(grad, self, mat2, grad_input_mask)\n",
        "",
        "E416",
        "mm has no derivative",
    ),
    wrong_derivative("unknown name", "self: grad * other", "self: grad * ‸othr", "E420", "othr"),
    wrong_derivative(
        "unknown function",
        "sum_backward(grad, self.sizes()",
        "‸sum_backwards(grad, self.sizes()",
        "E421",
        "sum_backwards",
    ),
    wrong_derivative("unknown method", "grad.transpose(", "grad.‸transpos(", "E422", "transpos"),
    wrong_derivative(
        "unknown attribute", "self.shape, indices", "self.‸shap, indices", "E422", "shap"
    ),
    wrong_derivative(
        "arity", "self.sizes(), dim, keepdim)", "self.sizes(), dim)", "E423", "sum_backward"
    ),
    wrong_derivative(
        "unknown keyword",
        "mat2, grad_input_mask)",
        "mat2, grad_input_mask, trans=1)",
        "E423",
        "trans",
    ),
    wrong_derivative("forward mode", "self_t.mul(indices)", "‸slf_t.mul(indices)", "E420", "slf_t"),
    wrong_derivative("unknown flags", "[True, False]", "‸[yes, no]", "E106", "True and False"),
    wrong_derivative("no name", "- name: zero_\n  self", "- ‸self", "E108", "name"),
]
