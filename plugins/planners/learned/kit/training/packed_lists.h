// Lists of lists of numbers in a container (core/io/container.h): their lengths, and all numbers.
// Include in .cpp files only.
#pragma once

#include <cstdint>
#include <vector>

#include "core/io/container.h"

namespace strato::learned {

template <PlainNumber T>
Json packed_lists(const std::vector<std::vector<T>>& lists) {
  std::vector<std::uint32_t> lengths;
  std::vector<T> values;
  for (const std::vector<T>& list : lists) {
    lengths.push_back(static_cast<std::uint32_t>(list.size()));
    values.insert(values.end(), list.begin(), list.end());
  }
  return {{"lengths", packed(lengths)}, {"values", packed(values)}};
}

template <PlainNumber T>
std::vector<std::vector<T>> unpacked_lists(const JsonView& view) {  // throws InputError
  const auto lengths = unpacked<std::uint32_t>(view.at("lengths"));
  const auto values = unpacked<T>(view.at("values"));
  std::vector<std::vector<T>> lists;
  std::size_t at = 0;
  for (const std::uint32_t length : lengths) {
    if (length > values.size() - at) view.fail("has fewer numbers than its lengths say", "");
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(at);
    lists.emplace_back(begin, begin + length);
    at += length;
  }
  return lists;
}

}  // namespace strato::learned
