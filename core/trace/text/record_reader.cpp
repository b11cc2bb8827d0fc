#include "core/trace/text/record_reader.h"

#include <istream>
#include <vector>

#include "core/io/json.h"
#include "core/trace/text/text_source.h"

namespace strato::trace {
namespace {

constexpr std::size_t kDeepestRecord = 64;

// The handler of the library's parser.
//
//   {"distributedInfo": {"rank": 0}, "traceEvents": [{"name": "a", "args": {"stream": 7}}, ...]}
//
// A list inside a record is written as JSON again. Levels are counted, for texts nest without
// limit.
class RecordHandler {
 public:
  RecordHandler(const TakeRecord& take, ReadingEnd& end) : take_(take), end_(end) {}

  bool null() { return scalar("null", false, false); }
  bool boolean(bool value) { return scalar(value ? "true" : "false", false, true); }
  bool number_integer(Json::number_integer_t value) {
    return scalar(std::to_string(value), false, true);
  }
  bool number_unsigned(Json::number_unsigned_t value) {
    return scalar(std::to_string(value), false, true);
  }
  bool number_float(Json::number_float_t, const Json::string_t& text) {
    return scalar(text, false, true);
  }
  bool string(Json::string_t& value) { return scalar(value, true, true); }
  bool binary(Json::binary_t&) { return true; }

  bool key(Json::string_t& name) {
    if (list_depth_ > 0) {
      separate();
      quote(name);
      list_text_ += ':';
      after_key_ = true;
    } else if (record_depth_ > 0) {
      path_.resize(prefixes_.back());
      path_ += name;
    } else {
      section_ = name;
    }
    return true;
  }

  bool start_object(std::size_t) { return open(true); }
  bool end_object() { return close(true); }
  bool start_array(std::size_t) { return open(false); }
  bool end_array() { return close(false); }

  bool parse_error(std::size_t at, const std::string&, const Json::exception&) {
    end_.whole = false;
    end_.at = at;
    end_.in_record = record_depth_ > 0;
    return false;
  }

 private:
  // The text's own list or object, a list of the object, or within a record?
  bool open(bool object) {
    if (++depth_ > kDeepestRecord) return give_up();
    if (list_depth_ > 0) {
      separate();
      list_text_ += object ? '{' : '[';
      ++list_depth_;
    } else if (record_depth_ > 0) {
      if (object)
        enter_object();
      else
        begin_list();
    } else if (object && (depth_ > 1 || root_is_list_)) {
      record_.clear();
      path_.clear();
      prefixes_.assign(1, 0);
      record_depth_ = 1;
    } else if (depth_ == 1) {
      root_is_list_ = !object;
    }
    return true;
  }

  bool close(bool object) {
    --depth_;
    if (list_depth_ > 0) {
      list_text_ += object ? '}' : ']';
      if (--list_depth_ == 0) record_.add(path_) = list_text_;
    } else if (record_depth_ > 0) {
      if (--record_depth_ == 0)
        hand_over();
      else
        prefixes_.pop_back();
    }
    return true;
  }

  bool scalar(std::string_view text, bool quoted, bool there) {
    if (list_depth_ > 0) {
      separate();
      if (quoted)
        quote(text);
      else
        list_text_ += text;
    } else if (record_depth_ > 0) {
      if (there) record_.add(path_) = text;
    } else if (there && depth_ == 1 && !root_is_list_) {
      record_.clear();
      record_.add(section_) = text;
      take_("", record_);
    }
    return true;
  }

  void enter_object() {
    path_ += '.';
    prefixes_.push_back(path_.size());
    ++record_depth_;
  }

  void begin_list() {
    list_text_.assign(1, '[');
    list_depth_ = 1;
  }

  void hand_over() {
    ++end_.records;
    take_(root_is_list_ ? std::string_view() : std::string_view(section_), record_);
  }

  void separate() {
    const char last = list_text_.empty() ? '[' : list_text_.back();
    if (!after_key_ && last != '[' && last != '{') list_text_ += ',';
    after_key_ = false;
    if (list_text_.size() > Record::kLongestList) list_text_.resize(Record::kLongestList);
  }

  void quote(std::string_view text) {
    if (text.find_first_of("\"\\\b\f\n\r\t") == std::string_view::npos)
      ((list_text_ += '"') += text) += '"';
    else
      list_text_ += json_text(Json(std::string(text)));
  }

  bool give_up() {
    end_.whole = false;
    end_.in_record = true;
    return false;
  }

  const TakeRecord& take_;
  ReadingEnd& end_;
  Record record_;
  std::string section_, path_, list_text_;
  std::vector<std::size_t> prefixes_;  // sizes of `path_` for the open objects of the record
  std::size_t depth_ = 0, record_depth_ = 0, list_depth_ = 0;
  bool root_is_list_ = false, after_key_ = false;
};

}  // namespace

ReadingEnd read_records(const std::filesystem::path& file, const TakeRecord& take) {
  ReadingEnd end;
  TextSource source(file);
  std::istream text(&source);
  RecordHandler handler(take, end);
  Json::sax_parse(text, &handler);
  end.cut_short = !end.whole && (source.at_end() || source.broken());
  end.mended = source.mended();
  return end;
}

}  // namespace strato::trace
