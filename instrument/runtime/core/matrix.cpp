#include "instrument/runtime/core/matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace kcheck::runtime {
namespace {

using abi::MatrixType;
enum class Part { A, B, Accumulator };

double fromHalf(std::uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                     : exponent == 31 ? (fraction ? std::numeric_limits<double>::quiet_NaN()
                                                  : std::numeric_limits<double>::infinity())
                                      : std::ldexp(fraction + 1024, exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}

/// To the nearest half, ties to even.
std::uint16_t toHalf(double value) {
  auto sign = static_cast<std::uint16_t>(std::signbit(value) << 15);
  double magnitude = std::fabs(value);
  if (std::isnan(value)) return 0x7FFF;
  if (magnitude >= 65520) return sign | 0x7C00;
  int exponent = magnitude < std::ldexp(1, -14) ? -14 : std::ilogb(magnitude);
  auto units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return static_cast<std::uint16_t>(sign | ((exponent + 14) * 1024 + units));
}

float floatOf(std::uint32_t bits) { return std::bit_cast<float>(bits); }

double numberAt(const std::uint32_t* registers, MatrixType type, unsigned element) {
  std::uint32_t word = registers[type == MatrixType::F64 ? 0 : element * abi::matrixBytes(type) / 4];
  switch (type) {
  case MatrixType::F16: return fromHalf(static_cast<std::uint16_t>(word >> 16 * (element & 1)));
  case MatrixType::BF16: return floatOf(word >> 16 * (element & 1) << 16);
  case MatrixType::TF32: return floatOf(word & 0xFFFF'E000); // the rest does not count
  case MatrixType::F32: return floatOf(word);
  case MatrixType::S8: return static_cast<std::int8_t>(word >> 8 * (element & 3));
  case MatrixType::U8: return static_cast<std::uint8_t>(word >> 8 * (element & 3));
  case MatrixType::S32: return static_cast<std::int32_t>(word);
  case MatrixType::F64: break;
  }
  double wide = 0;
  std::memcpy(&wide, registers + 2 * static_cast<std::size_t>(element), sizeof wide);
  return wide;
}

struct Place {
  unsigned row, column;
};

/// Where a lane's element stands, as PTX lays out the fragments of mma.
Place placeOf(Part part, MatrixType type, unsigned rows, unsigned columns, unsigned lane, unsigned element) {
  unsigned width = part == Part::Accumulator ? 2 : std::max(1u, 4 / abi::matrixBytes(type));
  unsigned group = element / width;
  bool isB = part == Part::B;
  unsigned across = (isB ? columns : rows) / 8, along = (isB ? rows : columns) / (4 * width);
  unsigned tileAcross = isB ? group / along : group % across,
           tileAlong = isB ? group % along : group / across;
  unsigned eighth = lane / 4 + 8 * tileAcross;
  unsigned run = lane % 4 * width + element % width + 4 * width * tileAlong;
  return isB ? Place{run, eighth} : Place{eighth, run};
}

struct Matrix {
  double at[abi::kMatrixExtent][abi::kMatrixExtent];
};

struct Operand {
  Part part;
  MatrixType type;
  unsigned rows, columns;

  unsigned elements() const { return rows * columns / kWarpSize; }
  unsigned words() const { return elements() * abi::matrixBytes(type) / 4; }
  Place place(unsigned lane, unsigned element) const {
    return placeOf(part, type, rows, columns, lane, element);
  }
};

std::uint32_t* registersOf(const ThreadState& thread) {
  return reinterpret_cast<std::uint32_t*>(thread.wait.e);
}

void gather(Matrix& matrix, const Operand& operand, unsigned firstWord, const ThreadState* lanes,
            std::uint32_t group) {
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    for (unsigned element = 0; element < operand.elements(); ++element) {
      Place place = operand.place(lane, element);
      matrix.at[place.row][place.column] =
          group >> lane & 1 ? numberAt(registersOf(lanes[lane]) + firstWord, operand.type, element) : 0;
    }
}

/// The largest number in place of infinity, zero in place of none.
double finite(double value) {
  constexpr double most = 65504;
  return std::isnan(value) ? 0 : std::clamp(value, -most, most);
}

void put(std::uint32_t* registers, MatrixType type, unsigned element, double value, bool saturates) {
  if (type == MatrixType::F64) {
    std::memcpy(registers + 2 * static_cast<std::size_t>(element), &value, sizeof value);
  } else if (type == MatrixType::F32) {
    registers[element] = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  } else if (type == MatrixType::S32) { // exact in a double
    if (saturates) value = std::clamp(value, -2147483648.0, 2147483647.0);
    registers[element] = static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
  } else {
    unsigned shift = 16 * (element & 1);
    std::uint32_t& word = registers[element / 2];
    word = (word & ~(0xFFFFu << shift)) |
           static_cast<std::uint32_t>(toHalf(saturates ? finite(value) : value)) << shift;
  }
}

void multiply(ThreadState* lanes, std::uint32_t group, const abi::Wait& wait) {
  unsigned m = wait.c & 255, n = wait.c >> 8 & 255, k = wait.c >> 16 & 255;
  auto type = [&](unsigned shift) { return static_cast<MatrixType>(wait.d >> shift & 15); };
  Operand a{Part::A, type(0), m, k}, b{Part::B, type(4), k, n};
  Operand c{Part::Accumulator, type(8), m, n}, d{Part::Accumulator, type(12), m, n};
  bool saturates = wait.d >> 16 & 1;
  Matrix left, right, sum;
  gather(left, a, 0, lanes, group);
  gather(right, b, a.words(), lanes, group);
  gather(sum, c, a.words() + b.words(), lanes, group);
  for (unsigned row = 0; row < m; ++row)
    for (unsigned column = 0; column < n; ++column) {
      double& result = sum.at[row][column];
      for (unsigned inner = 0; inner < k; ++inner)
        result = std::fma(left.at[row][inner], right.at[inner][column], result);
    }
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    if (!(group >> lane & 1)) continue;
    for (unsigned element = 0; element < d.elements(); ++element) {
      Place place = d.place(lane, element);
      put(registersOf(lanes[lane]), d.type, element, sum.at[place.row][place.column], saturates);
    }
  }
}

/// The lane that reads the row which `lane` names: the one across the matrix.
unsigned across(unsigned lane) { return lane ^ 7; }

/// Each of the first lanes names a row, and gets that of another one; its own where that is not here.
void exchangeRows(ThreadState* lanes, std::uint32_t group, const abi::Wait& wait) {
  std::uint64_t rows[kWarpSize]{};
  for (unsigned lane = 0; lane < 8 * wait.c; ++lane)
    if (group >> lane & 1) std::memcpy(&rows[lane], registersOf(lanes[lane]), sizeof rows[lane]);
  for (unsigned lane = 0; lane < 8 * wait.c; ++lane)
    if (group >> lane & 1 && group >> across(lane) & 1)
      std::memcpy(registersOf(lanes[lane]), &rows[across(lane)], sizeof rows[lane]);
}

/// Lane 8 * i + r names row r of matrix i, and the lane across brings it; each lane gets two neighbours of
/// each matrix.
void spread(ThreadState* lanes, std::uint32_t group, const abi::Wait& wait) {
  std::uint16_t halves[4][8][8]{};
  for (unsigned lane = 0; lane < 8 * wait.c; ++lane)
    if (group >> lane & 1) {
      const unsigned named = group >> across(lane) & 1 ? across(lane) : lane;
      std::memcpy(halves[lane / 8][named % 8], registersOf(lanes[lane]), 16);
    }
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    if (!(group >> lane & 1)) continue;
    unsigned eighth = lane / 4, pair = lane % 4 * 2;
    for (unsigned matrix = 0; matrix < wait.c; ++matrix) {
      const auto& from = halves[matrix];
      std::uint32_t low = wait.d ? from[pair][eighth] : from[eighth][pair];
      std::uint32_t high = wait.d ? from[pair + 1][eighth] : from[eighth][pair + 1];
      registersOf(lanes[lane])[matrix] = low | high << 16;
    }
  }
}

} // namespace

void answerMatrix(ThreadState* lanes, std::uint32_t group) {
  const abi::Wait wait = lanes[std::countr_zero(group)].wait;
  switch (static_cast<abi::MatrixOp>(wait.b)) {
  case abi::MatrixOp::Multiply: return multiply(lanes, group, wait);
  case abi::MatrixOp::Rows: return exchangeRows(lanes, group, wait);
  case abi::MatrixOp::Spread: return spread(lanes, group, wait);
  }
}

} // namespace kcheck::runtime
