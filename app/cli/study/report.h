// Ours beside theirs.
#pragma once

#include <span>
#include <string>

#include "app/cli/study/run.h"
#include "core/io/json.h"

namespace strato::cli {

// How well one half of the cells (or all) is met.
struct StudySummary {
  std::size_t cells = 0;  // with a number on the paper's side
  double median = 0,
         worst_tenth = 0;     // |ours / theirs - 1| of the step time: middle, 90th percentile
  double rank = 0;            // Spearman's correlation of ours and theirs over all cells
  double rank_in_models = 0;  // mean over rows with three cells or more
  std::size_t rows_ranked = 0;
  std::size_t memory = 0,
              memory_right = 0;  // cells, and those where both or none ran out of memory
};

enum class Half { Calibrate, Check, Both };
StudySummary summarise(std::span<const StudyCase> cases, std::span<const Prediction> predictions,
                       Half half);

// Spearman's, ties at their mean rank; 1 for fewer than two.
double rank_correlation(std::span<const double> a, std::span<const double> b);

std::string study_text(std::span<const StudyCase> cases, std::span<const Prediction> predictions);
Json study_json(std::span<const StudyCase> cases, std::span<const Prediction> predictions);
// Of several studies together.
std::string all_summaries_text(std::span<const StudyCase> cases,
                               std::span<const Prediction> predictions);
Json all_summaries_json(std::span<const StudyCase> cases, std::span<const Prediction> predictions);

}  // namespace strato::cli
