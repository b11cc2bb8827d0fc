// Reading XML that programs write: elements, attributes and comments; text between elements is
// passed over. Nothing is expanded and nothing is fetched: a document type, which entities come
// with, is refused.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strato {

struct XmlElement {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<XmlElement> children;
  std::size_t line = 0;  // from 1

  const std::string* find(std::string_view attribute) const;  // null when there is none
  std::string_view at(std::string_view attribute) const;      // empty when there is none
};

struct XmlDocument {
  XmlElement root;
  std::vector<std::string> comments;
};

// Throws InputError (place: the line) for what is no XML or has a document type, and for more than
// 8 MB, 64 levels, 100,000 elements or 1,000 comments.
XmlDocument parse_xml(std::string_view text, const std::string& file);

}  // namespace strato
