// For which launches a kernel is analysed: any launch, conditions on it, and the launches that are known.
#pragma once

#include "analyzer/analyzer.h"
#include "analyzer/model/barriers.h"
#include "analyzer/model/model_builder.h"

#include <memory>

namespace kcheck::analyzer {

/// A launch case with the words for it and the launch it stands for in the report.
struct PlannedCase {
  LaunchCase launch;
  std::string holdsFor;
  Launch shown;
  /// Axes that the kernel never looks at and that the launch leaves open are taken as one wide: said in
  /// words, for proofs of races, which a wider launch would break by doing the same work twice.
  std::vector<std::string> narrowed;
};

/// More launches of one kernel are not told apart: the rest is looked at as one.
inline constexpr std::size_t kMostLaunches = 8;

struct LaunchPlan {
  LaunchCase any;
  std::string anyText;               ///< `any launch`, `any one-dimensional launch`
  std::vector<PlannedCase> concrete; ///< the launches that the program, or else the options, or else we, name
  /// What cases of `concrete` stand for that is no launch of the program: many launches, or one in the shape
  /// that the options give.
  std::vector<std::shared_ptr<const Launch>> made;
  std::string leftOut;           ///< launches that nothing in `concrete` stands for; else empty
  bool anyCoversLeftOut = false; ///< none of them passes a buffer twice
  bool isNarrowed = false;       ///< there are axes that the kernel never looks at
  bool isDefault = false;        ///< `concrete` is kcheck's own choice: nothing is known of the launches
  bool isFitted = false; ///< to the numbers of the kernel, which may be written for blocks of that size
  std::optional<std::array<Dim3, 2>> usual; ///< block and grid, where it would be another one for a kernel
                                            ///< that asks for no shape
};

/// Whether `any` says something about the launch: one that is wide along an axis that the kernel never looks
/// at has several threads do the same work, which `any` leaves out, and so is one that passes the same buffer
/// twice, where `any` keeps arrays apart.
bool covers(const LaunchCase& any, const LaunchCase& launch);

/// Conditions to try, widest first, where the answer is not the same for any launch: blocks of up to so many
/// threads, blocks of the known shape. `sizes` are the lengths of the kernel's shared arrays.
std::vector<PlannedCase> candidatesFor(const LaunchPlan& plan, const std::vector<std::uint32_t>& sizes);

/// Where the launch is kcheck's own choice: one of other width along x, or of another block. False where no
/// block can be that large.
bool chooseWidth(LaunchPlan& plan, std::uint32_t threads, std::uint32_t blocks);
bool chooseBlock(LaunchPlan& plan, const Dim3& block);

LaunchPlan planLaunches(const Facts& facts, const Kernel& kernel, UsedAxes used, const Options& options);

} // namespace kcheck::analyzer
