// The least cost that the layouts of an op can have: the building block of the lower bound. Private
// to this folder. Times in nanoseconds as doubles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/search/evaluate/lower_bound.h"

namespace strato {

// Ops with the same times on every GPU type: searched once.
struct OpClass {
  bool splits = false;   // along the batch
  bool divides = false;  // several devices may compute it together, each a part of the same samples
  std::vector<std::vector<double>> time;  // [type][point]: on counts[point] samples
  std::vector<std::vector<double>> rate;  // least time per sample beyond the point before, up to it
  double shortest = 0;                    // of any task that is a part of it
};

class LayoutCosts {
 public:
  LayoutCosts(const Problem& problem, BoundOf strategies);

  std::size_t class_count() const { return classes_.size(); }
  const OpClass& op_class(std::size_t index) const { return classes_[index]; }
  std::size_t class_of(OpId op) const { return class_of_[op.index()]; }
  const std::vector<double>& devices() const { return devices_; }  // of each type
  double time_on(std::size_t index, std::size_t type) const {      // the whole batch
    return classes_[index].time[type].back();
  }

  // A lower bound on  path * mean over samples of the shortest time of a task that has the sample
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
  double least_alone(const OpClass& op, double path, const std::vector<double>& weights) const;
  // The same of devices that compute together.
  double least_together(const OpClass& op, double path, const std::vector<double>& weights) const;
  double least_part(const OpClass& op, std::size_t type, std::size_t point) const {
    return std::min(op.time[type][point], floor_[type]);
  }

  BoundOf strategies_;
  std::vector<std::int64_t> counts_;  // ascending, from 1 to the batch
  double batch_ = 1;
  std::vector<double> devices_;
  std::vector<double> floor_;  // by type: what no part of an op is faster than, but for short ops
  std::vector<OpClass> classes_;
  std::vector<std::size_t> class_of_;
};

}  // namespace strato
