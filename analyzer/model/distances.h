// Arrays of the host that the kernel asks itself about: whether they are one, or how they lie to each other.
#pragma once

namespace kcheck::analyzer {

struct KernelState;

/// Whether the host hands it over, so that another pointer may lead to it as well.
bool isOfHost(const KernelState& state, unsigned object);

/// Completes KernelModel::mayBeOne: what follows for third arrays, and arrays whose addresses are compared.
void addComparedArrays(KernelState& state);

} // namespace kcheck::analyzer
