#include "instrument/runtime/fft/plan.h"

namespace kcheck::runtime::fft {

std::size_t Plan::workBytes() const {
  return size[0] * size[1] * size[2] * batch * (isDouble(type) ? 16 : 8);
}

Layout Plan::layout(bool isInput, bool inPlace) const {
  Layout made;
  made.real = isReal(type) && isToReal(type) != isInput;
  made.extent = size;
  const std::size_t half = size[2] / 2 + 1;
  if (isReal(type) && !made.real) made.extent[2] = half;
  // The rows as they lie in memory.
  std::array<std::size_t, 3> embed = isInput ? inEmbed : outEmbed;
  std::size_t stride = isInput ? inStride : outStride;
  if (!isAdvanced) {
    embed = made.extent;
    if (made.real && inPlace) embed[2] = 2 * half;
    stride = 1;
  }
  made.step = {embed[1] * embed[2] * stride, embed[2] * stride, stride};
  made.distance = !isAdvanced ? embed[0] * embed[1] * embed[2] : isInput ? inDistance : outDistance;
  return made;
}

Layout Plan::input(bool inPlace) const { return layout(true, inPlace); }
Layout Plan::output(bool inPlace) const { return layout(false, inPlace); }

} // namespace kcheck::runtime::fft
