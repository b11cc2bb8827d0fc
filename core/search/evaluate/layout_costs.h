// The least cost that the layouts of an op can have: the building block of the lower bound. Private
// to this folder. Times in nanoseconds as doubles.
#pragma once

#include <cstdint>
#include <vector>

#include "core/search/api/problem.h"

namespace strato {

// Ops with the same times on every GPU type: searched once.
struct OpClass {
  bool splits = false;
  std::vector<std::vector<double>> time;  // [type][point]: on counts[point] samples
  std::vector<std::vector<double>> rate;  // least time per sample beyond the point before, up to it
  double shortest = 0;                    // over types and points
};

class LayoutCosts {
 public:
  explicit LayoutCosts(const Problem& problem);

  std::size_t class_count() const { return classes_.size(); }
  const OpClass& op_class(std::size_t index) const { return classes_[index]; }
  std::size_t class_of(OpId op) const { return class_of_[op.index()]; }
  const std::vector<double>& devices() const { return devices_; }  // of each type
  double time_on(std::size_t index, std::size_t type) const {      // the whole batch
    return classes_[index].time[type].back();
  }

  // A lower bound on  path * mean over samples of the time of the task that has the sample
  //                   + sum over tasks of weights[type] * time
  // over all layouts of the op. path >= 0, weights >= 0.
  double least(std::size_t index, double path, const std::vector<double>& weights) const;

 private:
  struct Dual {
    double value, slope;  // at a multiplier
  };
  Dual dual(const OpClass& op, double path, const std::vector<double>& weights,
            double multiplier) const;
  double least_split(const OpClass& op, double path, const std::vector<double>& weights) const;

  std::vector<std::int64_t> counts_;  // ascending, from 1 to the batch
  double batch_ = 1;
  std::vector<double> devices_;
  std::vector<OpClass> classes_;
  std::vector<std::size_t> class_of_;
};

}  // namespace strato
