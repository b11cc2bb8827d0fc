// JsonView: every wrong value is told with its place.
#include "core/io/json.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/message_of.h"

namespace strato {
namespace {

std::string message_for(const std::string& text, const std::function<void(const JsonView&)>& read) {
  return message_of([&] { read(JsonView::parse(text, "f")); });
}

TEST(Json, SyntaxErrorsNameLineAndColumn) {
  const auto error = [](const char* text) {
    return message_of([&] { JsonView::parse(text, "f"); });
  };
  EXPECT_EQ(error("{\n  \"a\": 1,\n  b}").substr(0, 40),
            "f: line 3, column 3: is not valid JSON h");
  EXPECT_NE(error("x").find("f: line 1, column 1: "), std::string::npos);
  for (const char* empty : {"", " \n\t\r\n"})
    EXPECT_EQ(error(empty), "f: is empty; give another file");
  EXPECT_NE(error("{\"a\": NaN}").find("is not valid JSON here"), std::string::npos);
  EXPECT_NE(error("[1, 2").find("is not valid JSON here"), std::string::npos);
  EXPECT_NE(error("{\"a\": 1e999}").find("number"), std::string::npos);
  EXPECT_NE(error("\"\xff\xfe\"").find("is not valid JSON here"), std::string::npos);
}

TEST(Json, DeepNestingIsNoCrash) {
  const std::string deep(200'000, '[');
  EXPECT_NE(message_of([&] { JsonView::parse(deep, "f"); }), "no error");
}

TEST(Json, TooManyValuesAreRefused) {
  std::string many = "[";
  for (int i = 0; i < (1 << 22) + 1; ++i) many += "1,";
  EXPECT_EQ(message_of([&] { JsonView::parse(many, "f"); }),
            "f: has more than 4194304 values; give a smaller file");
}

TEST(Json, WrongValuesNameTheirPlace) {
  const std::string text = R"({"a": [{"b": 1.5}, {"b": "x", "c": -3, "d": null}]})";
  const auto second = [](const JsonView& v) { return v.at("a").items()[1]; };
  const auto first = [](const JsonView& v) { return v.at("a").items()[0]; };
  EXPECT_EQ(message_for(text, [&](auto& v) { second(v).at("b").number(); }),
            "f: a[1].b: is not a number; write a number here");
  EXPECT_EQ(message_for(text, [&](auto& v) { first(v).at("b").integer(); }),
            "f: a[0].b: is not a whole number; write a whole number here");
  EXPECT_EQ(message_for(text, [&](auto& v) { second(v).at("c").positive_number(); }),
            "f: a[1].c: is -3; give a number above zero");
  EXPECT_EQ(message_for(text, [&](auto& v) { second(v).at("c").integer(1, 9); }),
            "f: a[1].c: is -3; give a whole number from 1 to 9");
  EXPECT_EQ(message_for(text, [&](auto& v) { second(v).at("d"); }),
            "f: a[1]: has no \"d\"; add it");
  EXPECT_EQ(message_for(text,
                        [&](auto& v) {
                          second(v).allow_only({"b", "c"});
                        }),
            "f: a[1].d: is not a known key; known here: b, c");
  EXPECT_EQ(message_for(text, [&](auto& v) { first(v).at("b").items(); }),
            "f: a[0].b: is not a list; write […] here");
  EXPECT_EQ(message_for(text, [&](auto& v) { v.at("a").members(); }),
            "f: a: is not an object; write {…} here");
  EXPECT_EQ(message_for(text, [&](auto& v) { v.at("a").at("k"); }),
            "f: a: is not an object; write {…} here");
  EXPECT_EQ(message_for(text, [&](auto& v) { first(v).at("b").string(); }),
            "f: a[0].b: is not a text; write \"…\" here");
  EXPECT_EQ(message_for(text, [&](auto& v) { first(v).at("b").boolean(); }),
            "f: a[0].b: is not true or false; write true or false");
  EXPECT_EQ(message_for("3", [&](auto& v) { v.at("x"); }), "f: is not an object; write {…} here");
}

TEST(Json, WholeNumbersBeyond64BitsAreRefused) {
  const std::string text = R"({"a": 18446744073709551615, "b": 9223372036854775807})";
  EXPECT_NE(message_for(text, [](auto& v) { v.at("a").integer(); }), "no error");
  EXPECT_EQ(message_for(text, [](auto& v) { v.at("b").integer(); }), "no error");
}

TEST(Json, FormatAndVersion) {
  const auto error = [](const char* text) {
    return message_for(text, [](auto& v) { v.expect_format("stratoscope-x", 2); });
  };
  EXPECT_EQ(error(R"({"format": "stratoscope-x", "version": 1})"), "no error");
  EXPECT_EQ(error(R"({"format": "stratoscope-x", "version": 2})"), "no error");
  EXPECT_EQ(
      error(R"({"format": "stratoscope-x", "version": 3})"),
      "f: version: is 3, newer than this program reads; update the program, or give version 2");
  EXPECT_EQ(error(R"({"format": "y", "version": 1})"),
            "f: format: is \"y\"; give a file of format \"stratoscope-x\"");
  EXPECT_EQ(error(R"({"version": 1})"),
            "f: has no \"format\"; begin it with \"format\": \"stratoscope-x\", \"version\": 1");
  EXPECT_EQ(error(R"({"format": "stratoscope-x", "version": 0})").substr(0, 16),
            "f: version: is 0");
  EXPECT_EQ(error("[]"), "f: is not an object; write {…} here");
}

TEST(Json, AKeyTwiceInOneObjectIsRefused) {
  const auto error = [](const char* text) { return message_for(text, [](auto&) {}); };
  EXPECT_EQ(error(R"({"a": 1, "b": 2, "a": 1})"),
            "f: a: is there more than once; keep one of them");
  EXPECT_EQ(
      error(R"({"machines": [{"gpus": 1}, {"gpus": [{"count": 1, "type": 2, "count": 3}]}]})"),
      "f: machines[1].gpus[0].count: is there more than once; keep one of them");
  EXPECT_EQ(error(R"([[], [{"x": {"y": {"": 1, "": {}}}}]])"),
            "f: [1][0].x.y.: is there more than once; keep one of them");
  EXPECT_EQ(error(R"({"\u0061": 1, "a": 2})"), "f: a: is there more than once; keep one of them");
  EXPECT_EQ(error(R"([{"a": 1}, {"a": {"a": [{"a": 2}, {"a": 3}]}, "b": null}])"), "no error");
}

TEST(Json, ParsesAsTheLibraryDoes) {
  for (const char* text :
       {"null", "1", "[]", "{}", R"("x")", R"([1, -2, 3.5, 1e300, true, false, null, "ü", [], {}])",
        R"({"z": {"y": [{"x": 1}, [[2]], {}]}, "a": "\ud83d\ude00", "m": [18446744073709551615]})"})
    EXPECT_EQ(JsonView::parse(text, "f").json().dump(), Json::parse(text).dump()) << text;
}

TEST(Json, ViewsOutliveTheRoot) {
  const JsonView inner = JsonView::parse(R"({"a": {"b": [1, 2]}})", "f").at("a").at("b");
  EXPECT_EQ(inner.items()[1].integer(), 2);
  EXPECT_EQ(inner.items()[1].place(), "a.b[1]");
}

}  // namespace
}  // namespace strato
