// XML that programs write; what is expanded, fetched or endless is refused.

#include "core/io/xml.h"

#include <gtest/gtest.h>

#include "tests/message_of.h"

namespace strato {
namespace {

std::string xml_refusal(const std::string& text) {
  return message_of([&] { parse_xml(text, "x.xml"); });
}

TEST(Xml, ElementsAttributesAndComments) {
  const XmlDocument document = parse_xml(
      "<?xml version=\"1.0\"?>\n<!-- one -->\n<a b='1 &amp; 2'>\ntext<c/>\n<c d=\"\"/></a>",
      "x.xml");
  EXPECT_EQ(document.comments, std::vector<std::string>{" one "});
  EXPECT_EQ(document.root.name, "a");
  EXPECT_EQ(document.root.at("b"), "1 & 2");
  ASSERT_EQ(document.root.children.size(), 2u);
  EXPECT_EQ(document.root.children[1].line, 5u);
  EXPECT_EQ(document.root.children[0].find("d"), nullptr);
  ASSERT_NE(document.root.children[1].find("d"), nullptr);
}

TEST(Xml, WhatIsNoneSaysWhere) {
  EXPECT_EQ(xml_refusal("<a/>"), "no error");
  for (const char* text : {"", "<a>", "<a></b>", "<a/><b/>", "<a b=\"1\" b=\"2\"/>", "<a>&x;</a>"})
    EXPECT_NE(xml_refusal(text).find("x.xml: line 1: is not XML"), std::string::npos) << text;
}

TEST(Xml, DocumentTypesAndDepthsAreRefused) {
  std::string deep;
  for (int i = 0; i < 65; ++i) deep += "<a>";
  EXPECT_NE(xml_refusal("<!DOCTYPE a><a/>").find("document type"), std::string::npos);
  EXPECT_NE(xml_refusal("<!DOCTYPE a SYSTEM 'http://x/y.dtd'><a/>").find("document type"),
            std::string::npos);
  EXPECT_NE(xml_refusal(deep).find("more than 64 levels"), std::string::npos);
  EXPECT_NE(xml_refusal(deep.substr(3) + "<a/>").find("more than 64 levels"), std::string::npos);
}

}  // namespace
}  // namespace strato
