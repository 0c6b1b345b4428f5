#include "analyzer/analyzer.h"

namespace kcheck::analyzer {
Analysis analyze(const llvm::Module&, const Facts&, const Options&) { return {}; }
std::string dumpModel(const llvm::Module&, const Facts&, const Options&) { return {}; }
} // namespace kcheck::analyzer
