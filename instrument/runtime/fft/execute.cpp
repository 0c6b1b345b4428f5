#include "instrument/runtime/fft/execute.h"

#include "instrument/runtime/fft/transform.h"

#include <algorithm>
#include <vector>

namespace kcheck::runtime::fft {
namespace {

/// Numbers of one transform, dense.
struct Grid {
  std::array<std::size_t, 3> size;
  std::vector<Complex> values;
  explicit Grid(const std::array<std::size_t, 3>& size) : size(size), values(size[0] * size[1] * size[2]) {}
  Complex& at(std::size_t x, std::size_t y, std::size_t z) { return values[(x * size[1] + y) * size[2] + z]; }
};

/// Calls visit(x, y, z, place) for each element of a transform, `place` in elements from the transform's
/// first.
template <class Visit> void forElements(const Layout& layout, Visit visit) {
  for (std::size_t x = 0; x < layout.extent[0]; ++x)
    for (std::size_t y = 0; y < layout.extent[1]; ++y)
      for (std::size_t z = 0; z < layout.extent[2]; ++z)
        visit(x, y, z, x * layout.step[0] + y * layout.step[1] + z * layout.step[2]);
}

template <class Real> void gather(const Layout& layout, const void* from, std::size_t first, Grid& grid) {
  const auto* reals = static_cast<const Real*>(from);
  forElements(layout, [&](std::size_t x, std::size_t y, std::size_t z, std::size_t place) {
    const std::size_t at = first + place;
    grid.at(x, y, z) = layout.real ? Complex(reals[at]) : Complex(reals[2 * at], reals[2 * at + 1]);
  });
}

template <class Real> void scatter(const Layout& layout, Grid& grid, void* to, std::size_t first) {
  auto* reals = static_cast<Real*>(to);
  forElements(layout, [&](std::size_t x, std::size_t y, std::size_t z, std::size_t place) {
    const std::size_t at = first + place;
    const Complex value = grid.at(x, y, z);
    reals[layout.real ? at : 2 * at] = static_cast<Real>(value.real());
    if (!layout.real) reals[2 * at + 1] = static_cast<Real>(value.imag());
  });
}

/// The half that a real result leaves out: element -k is the conjugate of element k.
void mirror(Grid& grid) {
  auto opposite = [](std::size_t at, std::size_t size) { return at == 0 ? 0 : size - at; };
  for (std::size_t x = 0; x < grid.size[0]; ++x)
    for (std::size_t y = 0; y < grid.size[1]; ++y)
      for (std::size_t z = grid.size[2] / 2 + 1; z < grid.size[2]; ++z)
        grid.at(x, y, z) =
            std::conj(grid.at(opposite(x, grid.size[0]), opposite(y, grid.size[1]), grid.size[2] - z));
}

/// Along each dimension in turn.
void transformAll(Grid& grid, bool inverse) {
  std::size_t step = grid.values.size();
  for (std::size_t size : grid.size) {
    const std::size_t block = step; // elements that share the outer indices
    step /= size;
    if (size == 1) continue;
    const Transform& line = transform(size);
    std::vector<Complex> result(size);
    for (std::size_t outer = 0; outer < grid.values.size(); outer += block)
      for (std::size_t inner = 0; inner < step; ++inner) {
        Complex* first = grid.values.data() + outer + inner;
        line.run(first, step, result.data(), inverse);
        for (std::size_t k = 0; k < size; ++k) first[k * step] = result[k];
      }
  }
}

template <class Real> void executeAs(const Plan& plan, const void* in, void* out, bool inverse) {
  const bool inPlace = in == out;
  const Layout from = plan.input(inPlace), to = plan.output(inPlace);
  std::vector<Grid> results; // in place, a result may lie where a later transform's input is
  for (std::size_t b = 0; b < plan.batch; ++b) {
    Grid grid(plan.size);
    gather<Real>(from, in, b * from.distance, grid);
    if (isToReal(plan.type)) mirror(grid);
    transformAll(grid, inverse);
    if (inPlace)
      results.push_back(std::move(grid));
    else
      scatter<Real>(to, grid, out, b * to.distance);
  }
  for (std::size_t b = 0; b < results.size(); ++b) scatter<Real>(to, results[b], out, b * to.distance);
}

} // namespace

void execute(const Plan& plan, const void* in, void* out, bool inverse) {
  isDouble(plan.type) ? executeAs<double>(plan, in, out, inverse) : executeAs<float>(plan, in, out, inverse);
}

} // namespace kcheck::runtime::fft
