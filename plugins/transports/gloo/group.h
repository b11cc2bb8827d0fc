// A group of ranks for Gloo's collectives on the connections of all ranks: a context of Gloo's that
// renames the ranks, so that no group needs connections of its own.
#pragma once

#include <gloo/context.h>

#include <memory>
#include <vector>

namespace strato::gloo_transport {

// `members`: ascending, the rank of `all` among them.
std::shared_ptr<gloo::Context> make_group(const std::shared_ptr<gloo::Context>& all,
                                          const std::vector<int>& members);

}  // namespace strato::gloo_transport
