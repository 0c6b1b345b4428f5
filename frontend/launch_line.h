// Launch lines: `k<<<8,128>>>(float[1000], float[1000]=iota, 1000)` describes a launch for a file that has no
// main. They become a main that is appended to the file's text for compilation.
//
//   grid, block    an extent: 8, (8,2), dim3(8,2,1), or any constant expression
//   third in <<<   dynamic shared bytes
//   TYPE[COUNT]    a device array; without a content element i holds 1 + i % 7, so that nothing is
//   uninitialised,
//                  nothing is zero, and indices read from it stay small
//   =zero  =iota (0, 1, 2, ...)  =random (the same in every run)  =mixed (0 to 3)  =VALUE (in every element)
//   =any(VALUE, VALUE, ...)  one of these in each element, in turn
//   =uninitialized leaves the array unwritten, for outputs
//   anything else  passed as it stands
#pragma once

#include "report/error.h"

#include <optional>
#include <string>
#include <vector>

namespace kcheck::frontend {

struct LaunchArgument {
  std::string text;       ///< as written
  std::size_t offset = 0; ///< of `text` in the launch line
  std::string type;       ///< of an array's elements; empty: not an array
  std::string count, content;
  bool isArray() const { return !type.empty(); }
};

struct LaunchLine {
  std::string text;
  std::string kernel; ///< with template arguments: `ns::scale<float>`
  std::string grid, block, sharedBytes;
  std::vector<LaunchArgument> arguments;
  std::string file; ///< where it stands, for messages
  unsigned line = 1, column = 1;
};

OrError<LaunchLine> parseLaunchLine(const std::string& text);

/// The name of the variable that holds an array of the main below: launch and argument count from 0.
std::string launchArrayName(std::size_t launch, std::size_t argument);
/// Host code: allocates, fills, launches, synchronises and frees, launch after launch. #line directives give
/// each call the place of its text in the launch line. `isChoice`: only the launch whose number, from 0, is
/// the program's argument.
std::string launchMain(const std::vector<LaunchLine>& launches, bool isChoice);

} // namespace kcheck::frontend
