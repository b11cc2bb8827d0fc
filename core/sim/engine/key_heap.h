// A four-ary min-heap of unsigned keys: four children share a cache line or two, the least of them
// is found without branches (there are always four: unused places hold the largest key), and
// replacing the smallest key costs one walk. Keeps its memory when cleared. Private to this folder.
#pragma once

#include <cstddef>
#include <vector>

namespace strato {

template <class Key>
class KeyHeap {
 public:
  KeyHeap() : keys_(kArity + 1, kNone) {}

  bool empty() const { return size_ == 0; }
  Key top() const { return keys_.front(); }
  void clear() {
    while (size_ > 0) keys_[--size_] = kNone;
  }

  void push(Key key) {
    std::size_t hole = size_++;
    if (size_ + kArity > keys_.size()) keys_.resize(2 * keys_.size() + kArity, kNone);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / kArity;
      if (keys_[parent] < key) break;
      keys_[hole] = keys_[parent];
      hole = parent;
    }
    keys_[hole] = key;
  }

  // Inlined by order: GCC 12 calls it for every event otherwise.
  [[gnu::always_inline]] void replace_top(Key key) {
    Key* const keys = keys_.data();
    std::size_t hole = 0;
    for (std::size_t child; (child = kArity * hole + 1) < size_; hole = child) {
      const Key a = keys[child], b = keys[child + 1], c = keys[child + 2], d = keys[child + 3];
      const Key ab = b < a ? b : a, cd = d < c ? d : c;
      const std::size_t in_ab = b < a, in_cd = 2 + static_cast<std::size_t>(d < c);
      const Key least = cd < ab ? cd : ab;
      if (!(least < key)) break;
      keys[hole] = least;
      child += cd < ab ? in_cd : in_ab;
    }
    keys[hole] = key;
  }

  void pop() {
    const Key last = keys_[--size_];
    keys_[size_] = kNone;
    if (size_ > 0) replace_top(last);
  }

 private:
  static constexpr std::size_t kArity = 4;
  static constexpr Key kNone = static_cast<Key>(-1);
  std::vector<Key> keys_;
  std::size_t size_ = 0;
};

}  // namespace strato
