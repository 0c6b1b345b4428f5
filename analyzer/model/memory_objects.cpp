// Memory objects, and the splitting of a pointer into the places it may point to.
#include "analyzer/model/kernel_state.h"

namespace kcheck::analyzer {

unsigned ObjectTable::object(const std::string& key, const MemoryObject& fresh) {
  auto [entry, isNew] = byKey.try_emplace(key, unsigned(objects.size()));
  if (!isNew) return entry->second;
  objects.push_back(fresh);
  keys.push_back(key);
  objects.back().id = entry->second;
  Symbol* symbol = symbols->plain(fresh.name, 64, SymbolKind::Object, 0, 0);
  symbol->lo = -(Int(1) << 63);
  symbol->hi = (Int(1) << 63) - 1;
  symbolOf.push_back(symbol);
  bySymbol[symbol] = entry->second;
  return entry->second;
}

Expr ObjectTable::pointerTo(unsigned object) { return exprs->of(symbolOf[object]); }

unsigned ObjectTable::unknown() {
  MemoryObject fresh;
  fresh.name = "unknown memory";
  fresh.isUnknown = true;
  return object("?", fresh);
}

/// Only sums and choices can be pointers: an object's symbol below anything else (a comparison, a hash of the
/// address) does not make the result one.
bool ObjectTable::isPointer(Expr e) {
  if (e->op == Op::Symbol) return e->symbol->kind == SymbolKind::Object;
  if (e->width != 64 || (e->op != Op::Add && e->op != Op::Ite)) return false;
  auto known = pointerMemo.find(e);
  if (known != pointerMemo.end()) return known->second;
  bool result = e->op == Op::Add ? isPointer(e->operands[0]) != isPointer(e->operands[1])
                                 : isPointer(e->operands[1]) || isPointer(e->operands[2]);
  return pointerMemo[e] = result;
}

void ObjectTable::letEscape(Expr e) {
  anyNode(e, [&](Expr n) {
    if (n->op == Op::Symbol && n->symbol->kind == SymbolKind::Object)
      objects[bySymbol.at(n->symbol)].escapes = true;
    return false;
  });
}

void ObjectTable::split(Expr pointer, Expr guard, Expr offset, std::vector<Place>& out, unsigned depth) {
  if (isFalse(guard)) return;
  if (depth > 64 || out.size() > 64) {
    letEscape(pointer);
    out.push_back({guard, unknown(), exprs->add(pointer, offset)});
    return;
  }
  if (pointer->op == Op::Symbol && pointer->symbol->kind == SymbolKind::Object) {
    out.push_back({guard, bySymbol.at(pointer->symbol), offset});
  } else if (pointer->op == Op::Add && isPointer(pointer)) {
    unsigned base = isPointer(pointer->operands[0]) ? 0 : 1;
    std::uint8_t flags = pointer->flags;
    split(pointer->operands[base], guard, exprs->add(pointer->operands[1 - base], offset, flags), out,
          depth + 1);
  } else if (pointer->op == Op::Ite && isPointer(pointer)) {
    Expr condition = pointer->operands[0];
    split(pointer->operands[1], exprs->logicalAnd(guard, condition), offset, out, depth + 1);
    split(pointer->operands[2], exprs->logicalAnd(guard, exprs->logicalNot(condition)), offset, out,
          depth + 1);
  } else if (!isConst(pointer, 0)) { // a null pointer is no place
    letEscape(pointer);
    out.push_back({guard, unknown(), exprs->add(pointer, offset)});
  }
}

std::vector<Place> ObjectTable::places(Expr pointer) {
  std::vector<Place> out;
  split(pointer, exprs->boolean(true), exprs->constant(64, 0), out, 0);
  return out;
}

} // namespace kcheck::analyzer
