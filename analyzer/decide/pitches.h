// By how far rows lie apart in an offset (`y * pitch + x`), and what of a row's place the launch says.
#pragma once

#include "analyzer/kernel_model.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace kcheck::analyzer {

/// An integer parameter, or one in a structure that is passed.
bool isNumber(Expr e);
bool hasNumber(Expr e);
/// As the program calls such a number.
std::string nameOf(Expr number);

/// In 64 bits, read with sign.
Expr wide(ExprContext& context, Expr e);

/// A number of the launch that what differs between threads is multiplied by: by how far rows lie apart.
struct Pitch {
  Expr number = nullptr;
  Expr inRow = nullptr; ///< the place in the row that is added
};

std::vector<Pitch> pitchesOf(ExprContext& context, std::initializer_list<const ModelAccess*> accesses);

/// A number of the launch that is a place in rows, or part of one (`i * n + k`).
struct Column {
  Expr number = nullptr;
  std::string length;     ///< of a row, in words
  Expr isInRow = nullptr; ///< width 1: that it and the whole place do not lie beyond the row
};

std::vector<Column> columnsOf(ExprContext& context, std::initializer_list<const ModelAccess*> accesses);

} // namespace kcheck::analyzer
