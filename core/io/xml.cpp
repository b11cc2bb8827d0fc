#include "core/io/xml.h"

#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/base/error.h"

namespace strato {
namespace {

constexpr std::size_t kMostBytes = 8'000'000, kMostLevels = 64;
constexpr std::size_t kMostElements = 100'000, kMostComments = 1'000;

// Expat calls it from C: nothing here throws, what is wrong is kept until the parser has stopped.
class XmlBuilder {
 public:
  explicit XmlBuilder(XML_Parser parser) : parser_(parser) {
    XML_SetUserData(parser, this);
    XML_SetElementHandler(parser, on_begin, on_end);
    XML_SetCommentHandler(parser, on_comment);
    XML_SetStartDoctypeDeclHandler(parser, on_doctype);
  }

  const std::string& problem() const { return problem_; }
  XmlDocument take() { return std::move(document_); }

 private:
  static XmlBuilder& of(void* self) { return *static_cast<XmlBuilder*>(self); }
  static void on_begin(void* self, const char* name, const char** attributes) {
    of(self).begin(name, attributes);
  }
  // An empty element ends also where its beginning has stopped the parser.
  static void on_end(void* self, const char*) {
    if (of(self).problem_.empty()) of(self).open_.pop_back();
  }
  static void on_comment(void* self, const char* text) { of(self).comment(text); }
  static void on_doctype(void* self, const char*, const char*, const char*, int) {
    of(self).stop("has a document type, which is not read");
  }

  void stop(std::string problem) {
    problem_ = std::move(problem);
    XML_StopParser(parser_, XML_FALSE);
  }

  void begin(const char* name, const char** attributes) {
    if (open_.size() == kMostLevels)
      return stop(fmt::format("has more than {} levels", open_.size()));
    if (++elements_ > kMostElements)
      return stop(fmt::format("has more than {} elements", elements_ - 1));
    XmlElement* element = &document_.root;
    if (!open_.empty()) element = &open_.back()->children.emplace_back();
    element->name = name;
    element->line = XML_GetCurrentLineNumber(parser_);
    for (; *attributes != nullptr; attributes += 2)
      element->attributes.emplace_back(attributes[0], attributes[1]);
    open_.push_back(element);
  }

  void comment(const char* text) {
    if (document_.comments.size() == kMostComments) return stop("has more than 1000 comments");
    document_.comments.emplace_back(text);
  }

  XML_Parser parser_;
  XmlDocument document_;
  std::vector<XmlElement*> open_;  // outermost first; none of their parents gets another child
  std::size_t elements_ = 0;
  std::string problem_;
};

}  // namespace

const std::string* XmlElement::find(std::string_view attribute) const {
  const auto found =
      std::ranges::find(attributes, attribute, &std::pair<std::string, std::string>::first);
  return found == attributes.end() ? nullptr : &found->second;
}

std::string_view XmlElement::at(std::string_view attribute) const {
  const std::string* value = find(attribute);
  return value == nullptr ? std::string_view() : *value;
}

XmlDocument parse_xml(std::string_view text, const std::string& file) {
  if (text.size() > kMostBytes)
    throw InputError(file, "", fmt::format("is XML of {} bytes", text.size()),
                     fmt::format("at most {} are read", kMostBytes));
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)> parser(
      XML_ParserCreate(nullptr), &XML_ParserFree);
  CHECK(parser != nullptr, "no memory for a parser");
  XmlBuilder builder(parser.get());
  const auto status = XML_Parse(parser.get(), text.data(), static_cast<int>(text.size()), XML_TRUE);
  if (status == XML_STATUS_OK) return builder.take();
  const std::string place = fmt::format("line {}", XML_GetCurrentLineNumber(parser.get()));
  if (!builder.problem().empty())
    throw InputError(file, place, builder.problem(), "give the file as the program wrote it");
  throw InputError(file, place,
                   fmt::format("is not XML: {}", XML_ErrorString(XML_GetErrorCode(parser.get()))),
                   "give the whole file as the program wrote it");
}

}  // namespace strato
