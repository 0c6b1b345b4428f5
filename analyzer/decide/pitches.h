// By how far rows lie apart in an offset (`y * pitch + x`), and what of a row's place the launch says.
#pragma once

#include "analyzer/decide/kernel_view.h"

#include <functional>
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

/// Of an offset as a polynomial, all that a number of the launch is multiplied by tells rows apart, and the
/// rest is the place in one.
struct Row {
  Expr number = nullptr;
  Expr isInside = nullptr; ///< width 1: the rest lies within the row
};

/// Those in which threads differ, along the rows and in them.
std::vector<Row> rowsOf(KernelView& kernel, std::initializer_list<const ModelAccess*> accesses);

/// An array whose parts lie in parts, by strides of the launch (`plane * s2 + row * s1 + x`), in one order or
/// another.
struct Nesting {
  std::vector<Expr> numbers; ///< those of the strides
  std::vector<Expr> ways;    ///< width 1, for each order: that each place lies in its part
};

/// `isOpen` says of a number whether the kernel leaves open how large it is.
Nesting nestingOf(KernelView& kernel, std::initializer_list<const ModelAccess*> accesses,
                  const std::function<bool(Expr)>& isOpen);

/// A number of the launch that is a place in rows, or part of one (`i * n + k`).
struct Column {
  Expr number = nullptr;
  std::string length;     ///< of a row, in words
  Expr isInRow = nullptr; ///< width 1: that it and the whole place do not lie beyond the row
};

std::vector<Column> columnsOf(ExprContext& context, std::initializer_list<const ModelAccess*> accesses);

} // namespace kcheck::analyzer
