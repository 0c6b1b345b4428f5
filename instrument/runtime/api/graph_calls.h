// What calls that get a graph or a node begin with.
#pragma once

#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/graph.h"

namespace kcheck::runtime::api {

template <class Body> [[gnu::always_inline]] inline Error withGraph(const cuda::Graph* graph, Body&& body) {
  return call([&] { return isGraph(graph) ? body(const_cast<cuda::Graph&>(*graph)) : Error::InvalidValue; });
}
template <class Body> [[gnu::always_inline]] inline Error withNode(const cuda::GraphNode* node, Body&& body) {
  return call([&] { return isNode(node) ? body(const_cast<cuda::GraphNode&>(*node)) : Error::InvalidValue; });
}

} // namespace kcheck::runtime::api
