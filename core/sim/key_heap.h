// A four-ary min-heap of whole-number keys: four children share a cache line or two, and replacing the
// smallest costs one walk. Keeps its memory when cleared. Private to this folder.
#pragma once

#include <cstddef>
#include <vector>

namespace strato {

template <class Key>
class KeyHeap {
 public:
  bool empty() const { return keys_.empty(); }
  Key top() const { return keys_.front(); }
  void clear() { keys_.clear(); }

  void push(Key key) {
    std::size_t hole = keys_.size();
    keys_.push_back(key);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / 4;
      if (keys_[parent] < key) break;
      keys_[hole] = keys_[parent];
      hole = parent;
    }
    keys_[hole] = key;
  }
  void replace_top(Key key) { sink(key, keys_.size()); }
  void pop() {
    const Key last = keys_.back();
    keys_.pop_back();
    if (!keys_.empty()) sink(last, keys_.size());
  }

 private:
  void sink(Key key, std::size_t size) {
    Key* const keys = keys_.data();
    std::size_t hole = 0;
    for (std::size_t child; (child = 4 * hole + 1) < size; hole = child) {
      const std::size_t end = child + 4 < size ? child + 4 : size;
      Key least = keys[child];
      for (std::size_t other = child + 1; other < end; ++other)
        if (keys[other] < least) least = keys[other], child = other;
      if (!(least < key)) break;
      keys[hole] = least;
    }
    keys[hole] = key;
  }

  std::vector<Key> keys_;
};

}  // namespace strato
