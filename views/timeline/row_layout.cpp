// Which rows are on the screen, and where.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>

#include "views/timeline/timeline_rows.h"

namespace strato {
namespace {

std::string lower_case(std::string_view name) {
  std::string result(name);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

const char* stream_name(RowKind kind) {
  switch (kind) {
    case RowKind::Compute:
      return " compute";
    case RowKind::Communication:
      return " communication";
    case RowKind::Memory:
      return " memory";
    default:
      return "";
  }
}

// All that a row can be found by.
std::string names_of(const TimelineRow& row, const std::string& section, const Cluster& cluster) {
  std::string names = section + ' ' + row.label + stream_name(row.kind);
  if (row.device.valid())
    names += ' ' + cluster.device(row.device).name + ' ' + cluster.gpu(row.device).name;
  return lower_case(names);
}

class Chooser {
 public:
  Chooser(const TimelineRows& rows, const RowFilter& filter) : rows_(rows), filter_(filter) {
    std::istringstream words(lower_case(filter.words));
    for (std::string word; words >> word;) words_.push_back(word);
    for (const TimelineRow& row : rows.rows) {
      if (row.kind == RowKind::Link) links_ = row.section;
    }
  }

  enum class Verdict { Shown, Pinned, Hidden, Off };  // Off: nobody asked for it one by one

  // Rows are asked for in order.
  Verdict judge(const TimelineRow& row) {
    if (row.kind == RowKind::Header) {
      section_ = row.label;
      section_hidden_ = filter_.hidden.contains(key_of(row));
      if (row.section == links_ && !filter_.links) return Verdict::Off;
      return section_hidden_ ? Verdict::Hidden : Verdict::Shown;
    }
    if (row.section == links_ && !filter_.links) return Verdict::Off;
    if (row.kind == RowKind::Memory && !filter_.memory) return Verdict::Off;
    const bool other_step =
        filter_.step != StepShown::Both && row.measured != (filter_.step == StepShown::Measured);
    if (row.kind != RowKind::Memory && other_step) return Verdict::Off;
    if (filter_.pinned.contains(key_of(row))) return Verdict::Pinned;
    if (section_hidden_ || filter_.hidden.contains(key_of(row)) || !has_words(row))
      return Verdict::Hidden;
    const auto section = static_cast<std::size_t>(row.section);
    const bool collapsed = section < filter_.collapsed.size() && filter_.collapsed[section];
    return collapsed ? Verdict::Off : Verdict::Shown;
  }

 private:
  bool has_words(const TimelineRow& row) const {
    if (words_.empty()) return true;
    const std::string names = names_of(row, section_, *rows_.timeline->program->cluster);
    return std::ranges::all_of(
        words_, [&](const std::string& word) { return names.find(word) != std::string::npos; });
  }

  const TimelineRows& rows_;
  const RowFilter& filter_;
  std::vector<std::string> words_;
  int links_ = -1;  // the section of the links
  std::string section_;
  bool section_hidden_ = false;
};

}  // namespace

RowKey key_of(const TimelineRow& row) {
  const std::size_t id = row.device.valid() ? row.device.index()
                         : row.link.valid() ? row.link.index()
                                            : static_cast<std::size_t>(row.section);
  return {row.kind, id};
}

RowLayout layout_rows(const TimelineRows& rows, const RowFilter& filter, double scale) {
  using Verdict = Chooser::Verdict;
  RowLayout layout;
  std::vector<std::size_t> shown, pinned;
  std::set<RowKey> hidden;
  Chooser chooser(rows, filter);
  bool filtered = false;          // something of this section was
  std::size_t with_header = 0;    // what is shown up to the section's header
  const auto drop_header = [&] {  // of a section of which nothing is left
    if (filtered && with_header > 0 && shown.size() == with_header) shown.pop_back();
  };
  for (std::size_t r = 0; r < rows.rows.size(); ++r) {
    const TimelineRow& row = rows.rows[r];
    if (row.kind == RowKind::Header) drop_header();
    const Verdict verdict = chooser.judge(row);
    if (verdict == Verdict::Shown) shown.push_back(r);
    if (row.kind == RowKind::Header) {
      filtered = false;
      with_header = verdict == Verdict::Shown ? shown.size() : 0;
    }
    if (verdict == Verdict::Pinned) pinned.push_back(r);
    if (verdict == Verdict::Hidden && row.kind != RowKind::Header) {
      hidden.insert(key_of(row));
      filtered = true;
    }
  }
  drop_header();
  layout.hidden = hidden.size();
  layout.pinned = pinned.size();
  DeviceId device;
  const auto place = [&](std::size_t r, bool first, bool is_pinned) {
    const TimelineRow& row = rows.rows[r];
    const bool next_device = row.device.valid() && device.valid() && row.device != device;
    if (!is_pinned && (next_device || (row.kind == RowKind::Header && !first)))
      layout.height += kDeviceGap;
    device = row.device;
    const bool band = row.measured && filter.step == StepShown::Both;
    const int height = row.kind == RowKind::Header ? kHeaderHeight
                       : band                      ? kBandHeight
                                                   : kRowHeight;
    const int scaled = static_cast<int>(std::lround(height * scale));
    layout.places.push_back({r, layout.height, scaled, is_pinned});
    layout.height += scaled;
  };
  for (const std::size_t r : pinned) place(r, false, true);
  if (!pinned.empty()) layout.height += kDeviceGap;
  layout.pinned_height = layout.height;
  device = {};
  for (std::size_t i = 0; i < shown.size(); ++i) place(shown[i], i == 0, false);
  layout.height += kDeviceGap;
  return layout;
}

std::optional<std::size_t> RowLayout::place_at(int y, int scroll) const {
  if (y >= pinned_height) y += scroll;
  auto found = std::upper_bound(places.begin(), places.end(), y,
                                [](int value, const Place& place) { return value < place.y; });
  if (found == places.begin()) return std::nullopt;
  --found;
  if (y >= found->y + found->height) return std::nullopt;
  return static_cast<std::size_t>(found - places.begin());
}

// Ascending among the pinned ones, and among the others.
std::optional<std::size_t> RowLayout::place_of(std::size_t row) const {
  const auto middle = places.begin() + static_cast<std::ptrdiff_t>(pinned);
  for (const auto& [begin, end] :
       {std::pair(places.begin(), middle), std::pair(middle, places.end())}) {
    const auto found = std::lower_bound(
        begin, end, row, [](const Place& place, std::size_t r) { return place.row < r; });
    if (found != end && found->row == row) return static_cast<std::size_t>(found - places.begin());
  }
  return std::nullopt;
}

}  // namespace strato
