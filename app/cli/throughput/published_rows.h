// Published measurements that are like a training step, and how far they are from what is predicted
// of them.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/cli/study/measured/measured_row.h"

namespace strato::cli {

struct Likeness {
  std::string gpu;  // of the catalogue
  std::int64_t devices = 1;
  MeasuredFramework framework = MeasuredFramework::Megatron;
};

struct PublishedRow {
  std::string label;  // with the name of its table
  double ratio = 1;   // measured over predicted time
};

// Of the bundled tables up to `most` rows, nearest first: of the same GPU, then of the same
// framework, then of about as many devices. Rows that cannot be predicted are left out. Lays out
// and simulates each: it takes seconds.
std::vector<PublishedRow> published_rows(const Likeness& like, std::size_t most,
                                         const std::function<void(std::size_t)>& progress,
                                         const std::stop_token& stop);

}  // namespace strato::cli
