// The three operators as kernels that PyTorch's dispatcher calls, with their gradients.
#include <torch/library.h>

#include <ATen/ATen.h>

#include <cmath>
#include <limits>
#include <tuple>

using at::Tensor;

// rms_norm_gated
std::tuple<Tensor, Tensor> rms_norm_gated(
    const Tensor& x_, const Tensor& gate_, const Tensor& weight_, double eps) {
  TORCH_CHECK(x_.dim() == 2 && gate_.sizes() == x_.sizes(), "rms_norm_gated: shapes differ");
  TORCH_CHECK(weight_.dim() == 1 && weight_.size(0) == x_.size(1), "rms_norm_gated: weight");
  auto x = x_.contiguous(), gate = gate_.contiguous(), weight = weight_.contiguous();
  auto out = at::empty_like(x), scale = at::empty({x.size(0)}, x.options());
  int64_t rows = x.size(0), n = x.size(1);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm_gated", [&] {
    auto px = x.data_ptr<scalar_t>(), pg = gate.data_ptr<scalar_t>();
    auto pw = weight.data_ptr<scalar_t>(), po = out.data_ptr<scalar_t>();
    auto ps = scale.data_ptr<scalar_t>();
    for (int64_t i = 0; i < rows; i++) {
      scalar_t total = 0;
      for (int64_t j = 0; j < n; j++) total += px[i * n + j] * px[i * n + j];
      scalar_t r = 1 / std::sqrt(total / n + scalar_t(eps));
      ps[i] = r;
      for (int64_t j = 0; j < n; j++)
        po[i * n + j] = px[i * n + j] * r * pw[j] / (1 + std::exp(-pg[i * n + j]));
    }
  });
  return {out, scale};
}

std::tuple<Tensor, Tensor, Tensor> rms_norm_gated_backward(const Tensor& grad_,
    const Tensor& x_, const Tensor& gate_, const Tensor& weight_, const Tensor& scale) {
  auto grad = grad_.contiguous(), x = x_.contiguous();
  auto gate = gate_.contiguous(), weight = weight_.contiguous();
  auto gx = at::empty_like(x), gg = at::empty_like(x), gw = at::zeros_like(weight);
  int64_t rows = x.size(0), n = x.size(1);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm_gated_backward", [&] {
    auto px = x.data_ptr<scalar_t>(), pg = gate.data_ptr<scalar_t>();
    auto pw = weight.data_ptr<scalar_t>(), pd = grad.data_ptr<scalar_t>();
    auto ps = scale.data_ptr<scalar_t>(), qx = gx.data_ptr<scalar_t>();
    auto qg = gg.data_ptr<scalar_t>(), qw = gw.data_ptr<scalar_t>();
    for (int64_t i = 0; i < rows; i++) {
      scalar_t r = ps[i], dot = 0;
      for (int64_t j = 0; j < n; j++) {
        int64_t at = i * n + j;
        scalar_t s = 1 / (1 + std::exp(-pg[at])), normal = px[at] * r;
        qg[at] = pd[at] * normal * pw[j] * s * (1 - s);
        qw[j] += pd[at] * normal * s;
        qx[at] = pd[at] * pw[j] * s;
        dot += qx[at] * px[at];
      }
      dot *= r * r * r / n;
      for (int64_t j = 0; j < n; j++) qx[i * n + j] = qx[i * n + j] * r - dot * px[i * n + j];
    }
  });
  return {gx, gg, gw};
}

// local_correlation
Tensor local_correlation(const Tensor& a_, const Tensor& b_, int64_t radius) {
  TORCH_CHECK(a_.dim() == 4 && a_.sizes() == b_.sizes(), "local_correlation: shapes differ");
  auto a = a_.contiguous(), b = b_.contiguous();
  int64_t n = a.size(0), channels = a.size(1), height = a.size(2), width = a.size(3);
  auto out = at::zeros({n, 2 * radius + 1, height, width}, a.options());
  AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "local_correlation", [&] {
    auto pa = a.data_ptr<scalar_t>(), pb = b.data_ptr<scalar_t>(), po = out.data_ptr<scalar_t>();
    for (int64_t i = 0; i < n; i++)
      for (int64_t d = 0; d < 2 * radius + 1; d++) {
        int64_t first = std::max<int64_t>(0, radius - d);
        int64_t last = std::min(width, width + radius - d);
        for (int64_t c = 0; c < channels; c++)
          for (int64_t y = 0; y < height; y++) {
            auto ra = pa + ((i * channels + c) * height + y) * width;
            auto rb = pb + ((i * channels + c) * height + y) * width + d - radius;
            auto ro = po + ((i * (2 * radius + 1) + d) * height + y) * width;
            for (int64_t x = first; x < last; x++) ro[x] += ra[x] * rb[x];
          }
      }
  });
  return out;
}

std::tuple<Tensor, Tensor> local_correlation_backward(
    const Tensor& grad_, const Tensor& a_, const Tensor& b_, int64_t radius) {
  auto grad = grad_.contiguous(), a = a_.contiguous(), b = b_.contiguous();
  auto ga = at::zeros_like(a), gb = at::zeros_like(b);
  int64_t n = a.size(0), channels = a.size(1), height = a.size(2), width = a.size(3);
  AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "local_correlation_backward", [&] {
    auto pa = a.data_ptr<scalar_t>(), pb = b.data_ptr<scalar_t>(), pd = grad.data_ptr<scalar_t>();
    auto qa = ga.data_ptr<scalar_t>(), qb = gb.data_ptr<scalar_t>();
    for (int64_t i = 0; i < n; i++)
      for (int64_t d = 0; d < 2 * radius + 1; d++) {
        int64_t first = std::max<int64_t>(0, radius - d);
        int64_t last = std::min(width, width + radius - d);
        for (int64_t c = 0; c < channels; c++)
          for (int64_t y = 0; y < height; y++) {
            int64_t row = ((i * channels + c) * height + y) * width, moved = row + d - radius;
            auto rd = pd + ((i * (2 * radius + 1) + d) * height + y) * width;
            for (int64_t x = first; x < last; x++) qa[row + x] += rd[x] * pb[moved + x];
            for (int64_t x = first; x < last; x++) qb[moved + x] += rd[x] * pa[row + x];
          }
      }
  });
  return {ga, gb};
}

// segment_softmax
Tensor segment_softmax(const Tensor& score_, const Tensor& segment_, int64_t segments) {
  TORCH_CHECK(score_.dim() == 1 && segment_.sizes() == score_.sizes(), "segment_softmax: shapes");
  auto score = score_.contiguous(), segment = segment_.contiguous();
  auto out = at::empty_like(score);
  int64_t n = score.numel();
  auto at = segment.data_ptr<int64_t>();
  for (int64_t i = 0; i < n; i++)
    TORCH_CHECK_INDEX(at[i] >= 0 && at[i] < segments, "a segment is out of range");
  AT_DISPATCH_FLOATING_TYPES(score.scalar_type(), "segment_softmax", [&] {
    auto px = score.data_ptr<scalar_t>(), po = out.data_ptr<scalar_t>();
    std::vector<scalar_t> top(segments, -std::numeric_limits<scalar_t>::infinity());
    std::vector<scalar_t> total(segments, 0);
    for (int64_t i = 0; i < n; i++) top[at[i]] = std::max(top[at[i]], px[i]);
    for (int64_t i = 0; i < n; i++) total[at[i]] += po[i] = std::exp(px[i] - top[at[i]]);
    for (int64_t i = 0; i < n; i++) po[i] /= total[at[i]];
  });
  return out;
}

Tensor segment_softmax_backward(
    const Tensor& grad_, const Tensor& out_, const Tensor& segment_, int64_t segments) {
  auto grad = grad_.contiguous(), out = out_.contiguous(), segment = segment_.contiguous();
  auto result = at::empty_like(out);
  int64_t n = out.numel();
  auto at = segment.data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "segment_softmax_backward", [&] {
    auto pd = grad.data_ptr<scalar_t>(), po = out.data_ptr<scalar_t>();
    auto q = result.data_ptr<scalar_t>();
    std::vector<scalar_t> dot(segments, 0);
    for (int64_t i = 0; i < n; i++) dot[at[i]] += pd[i] * po[i];
    for (int64_t i = 0; i < n; i++) q[i] = po[i] * (pd[i] - dot[at[i]]);
  });
  return result;
}

// end
TORCH_LIBRARY(elsewhere, m) {
  m.def("rms_norm_gated(Tensor x, Tensor gate, Tensor weight, float eps) -> (Tensor, Tensor)");
  m.def("rms_norm_gated_backward(Tensor grad, Tensor x, Tensor gate, Tensor weight, "
        "Tensor scale) -> (Tensor, Tensor, Tensor)");
  m.def("local_correlation(Tensor a, Tensor b, int radius) -> Tensor");
  m.def("local_correlation_backward(Tensor grad, Tensor a, Tensor b, int radius) "
        "-> (Tensor, Tensor)");
  m.def("segment_softmax(Tensor score, Tensor segment, int segments) -> Tensor");
  m.def("segment_softmax_backward(Tensor grad, Tensor out, Tensor segment, int segments) "
        "-> Tensor");
}

TORCH_LIBRARY_IMPL(elsewhere, CPU, m) {
  m.impl("rms_norm_gated", &rms_norm_gated);
  m.impl("rms_norm_gated_backward", &rms_norm_gated_backward);
  m.impl("local_correlation", &local_correlation);
  m.impl("local_correlation_backward", &local_correlation_backward);
  m.impl("segment_softmax", &segment_softmax);
  m.impl("segment_softmax_backward", &segment_softmax_backward);
}
