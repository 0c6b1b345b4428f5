// Symbols and functions with readable, unique names.
#include "analyzer/model/kernel_state.h"

namespace kcheck::analyzer {

std::string SymbolTable::unique(std::map<std::string, unsigned>& taken, const std::string& name) {
  unsigned& count = taken[name];
  if (count++ == 0) return name;
  return name + "'" + (count > 2 ? std::to_string(count - 1) : "");
}

Symbol* SymbolTable::get(const void* value, const std::string& role, RunId run, const std::string& name,
                         unsigned width, SymbolKind kind) {
  Symbol*& symbol = known[{value, role, run}];
  if (!symbol) {
    symbol = exprs->symbol(unique(symbolNames, name), width, kind);
    symbol->varies = Varies::ByThread;
  }
  return symbol;
}

Symbol* SymbolTable::plain(const std::string& name, unsigned width, SymbolKind kind, Int lo, Int hi) {
  return exprs->symbol(unique(symbolNames, name), width, kind, lo, hi);
}

Function* SymbolTable::function(const void* key, const std::string& role, const std::string& name,
                                unsigned width) {
  Function*& function = functions[{key, role, width}];
  if (!function) function = exprs->function(unique(functionNames, name), width);
  return function;
}

} // namespace kcheck::analyzer
