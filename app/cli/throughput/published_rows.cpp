#include "app/cli/throughput/published_rows.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "app/cli/study/measured/measured_prediction.h"
#include "app/cli/study/measured/measured_tables.h"

namespace strato::cli {
namespace {

// "A100-SXM4-80GB" and "A100-PCIE-40GB" are of one kind.
std::string_view kind_of_gpu(std::string_view name) { return name.substr(0, name.find('-')); }

double distance(const MeasuredRow& row, const Likeness& like) {
  constexpr double kOtherGpu = 100, kOtherFramework = 4;
  const double devices =
      static_cast<double>(row.machines.count) * static_cast<double>(row.machines.gpus_per_machine);
  return (kind_of_gpu(row.machines.gpu) == kind_of_gpu(like.gpu) ? 0 : kOtherGpu) +
         (row.framework == like.framework ? 0 : kOtherFramework) +
         std::abs(std::log2(devices / static_cast<double>(like.devices)));
}

}  // namespace

std::vector<PublishedRow> published_rows(const Likeness& like, std::size_t most,
                                         const std::function<void(std::size_t)>& progress,
                                         const std::stop_token& stop) {
  std::vector<MeasuredRow> rows;
  for (const auto& file : bundled_measured_tables()) {
    MeasuredTable table = read_measured_table(file);
    for (MeasuredRow& row : table.rows) {
      if (!row.seconds) continue;
      row.label = table.name + ": " + row.label;
      rows.push_back(std::move(row));
    }
  }
  std::ranges::stable_sort(rows, {}, [&](const MeasuredRow& row) { return distance(row, like); });
  if (rows.size() > most) rows.resize(most);
  const std::vector<MeasuredPrediction> predictions =
      predict_measured(rows, MeasuredCalibrations(""), progress, stop);
  std::vector<PublishedRow> result;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (predictions[i].refused.empty())
      result.push_back({rows[i].label, *rows[i].seconds / predictions[i].seconds});
  return result;
}

}  // namespace strato::cli
