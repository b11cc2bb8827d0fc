// LibTorch's tensors. Its logging defines a CHECK of its own, which would take the place of ours:
// include this, not <ATen/ATen.h>. Include in .cpp files and in headers of this folder only.
#pragma once

#pragma push_macro("CHECK")
#undef CHECK
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <c10/core/CPUAllocator.h>
#undef CHECK
#pragma pop_macro("CHECK")
