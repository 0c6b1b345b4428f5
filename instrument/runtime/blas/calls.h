// How the API's functions call BLAS: by type, with Fortran's names and its arguments by reference.
#pragma once

#include "instrument/runtime/blas/library.h"
#include "instrument/runtime/blas/operation.h"

#include <algorithm>
#include <complex>
#include <string>

namespace kcheck::runtime::blas {

template <class T> constexpr char kLetter = 's';
template <> inline constexpr char kLetter<double> = 'd';
template <> inline constexpr char kLetter<std::complex<float>> = 'c';
template <> inline constexpr char kLetter<std::complex<double>> = 'z';

/// The routine of that name.
template <class Result, class... Arguments> Result named(const std::string& name, Arguments... arguments) {
  return reinterpret_cast<Result (*)(Arguments...)>(routine((name + "_").c_str()))(arguments...);
}

/// `axpy` and float give `saxpy_`.
template <class T, class Result = void, class... Arguments>
Result fortran(const char* name, Arguments... arguments) {
  return named<Result>(std::string(1, kLetter<T>) + name, arguments...);
}

inline const char* transposition(int operation) { return operation == 0 ? "N" : operation == 1 ? "T" : "C"; }
inline const char* half(int fill) { return fill == 1 ? "U" : "L"; }
inline const char* diagonal(int unit) { return unit == 1 ? "U" : "N"; }
inline const char* side(int right) { return right == 1 ? "R" : "L"; }
inline bool isOperation(int value) { return value >= 0 && value <= 2; }

/// A leading dimension holds so many rows.
inline bool holds(int distance, int rows) { return distance >= std::max(1, rows); }

} // namespace kcheck::runtime::blas
