// LibTorch's tensors. Its logging defines a CHECK of its own, which would take the place of ours:
// include this, not <ATen/ATen.h>. For .cpp files, and headers that no other folder sees.
#pragma once

#pragma push_macro("CHECK")
#undef CHECK
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#undef CHECK
#pragma pop_macro("CHECK")
