#include "core/io/container.h"

#include <fmt/format.h>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/io/json_builder.h"

namespace strato {
namespace {

// Layout: magic; layout (u8), codec (u8), version (u32), name (u32 and bytes), bytes of the value,
// bytes of it here (u64 each); the value; the digest of all of this (2 u64). Little endian.
constexpr std::string_view kContainerMagic("\x89STRATO\n", 8);
constexpr std::uint8_t kLayout = 1;
constexpr std::size_t kMostValues = std::size_t{1} << 24;
constexpr std::uint64_t kMost = std::uint64_t{4} << 30, kFreely = 16 << 20, kMostTimes = 1000;
enum class Codec : std::uint8_t { Plain, Zstd };

struct Head {
  Codec codec;
  std::uint32_t version;
  std::string name;
  std::uint64_t size, stored;
  std::string_view rest;  // behind the head
};

[[noreturn]] void refuse_newer(const std::string& file) {
  throw InputError(file, "", "was written by a newer version of the program", "update the program");
}

bool unfolds_too_far(std::uint64_t size, std::uint64_t stored) {
  return size > kFreely && size / kMostTimes > stored;
}

std::string digest_bytes(std::string_view content) {
  const Digest digest = digest_of(content);
  ByteWriter out;
  out.number(digest.high).number(digest.low);
  return std::move(out).take();
}

Head read_head(std::string_view bytes, const ContainerKind& kind, const std::string& file) {
  if (!is_container(bytes))
    kind.refuse(file, fmt::format("does not hold {}, or is damaged", kind.thing));
  ByteReader in(bytes.substr(kContainerMagic.size()), file, {kind.thing, kind.remedy});
  if (in.number<std::uint8_t>() > kLayout) refuse_newer(file);
  Head head;
  head.codec = in.enumerated(Codec::Zstd);
  head.version = in.number<std::uint32_t>();
  head.name = in.text();
  head.size = in.number<std::uint64_t>();
  head.stored = in.number<std::uint64_t>();
  head.rest = in.rest();
  return head;
}

// The stored value, when the sizes are those of the bytes, the digest theirs, and the kind ours.
std::string_view checked(std::string_view bytes, const Head& head, const ContainerKind& kind,
                         const std::string& file) {
  const std::uint64_t tail = sizeof(Digest);
  if (head.rest.size() < tail || head.rest.size() - tail < head.stored)
    kind.refuse_damaged(file, "it ends too early");
  if (head.rest.size() - tail > head.stored)
    kind.refuse_damaged(file, "it has bytes behind its end");
  const std::string_view all = bytes.substr(0, bytes.size() - tail);
  if (digest_bytes(all) != bytes.substr(all.size()))
    kind.refuse_damaged(file, "its content does not match its digest");
  kind.check(file, head.name, head.version);
  return head.rest.substr(0, head.stored);
}

// CBOR lies flat: what is in a list or an object follows its head. True: a text or bytes come in
// pieces. The writer never makes such, and the library's reader calls itself for each piece.
bool has_pieces(std::string_view cbor) {
  constexpr unsigned kBytes = 2, kText = 3, kInPieces = 31;
  for (std::size_t at = 0; at < cbor.size();) {
    const auto head = static_cast<unsigned char>(cbor[at++]);
    const unsigned kind = head >> 5, low = head & 31;
    const bool has_content = kind == kBytes || kind == kText;
    if (has_content && low == kInPieces) return true;
    const std::size_t width = low >= 24 && low < 28 ? std::size_t{1} << (low - 24) : 0;
    if (width > cbor.size() - at) return false;  // the library says what is wrong
    std::uint64_t size = width == 0 ? low : 0;
    for (const char byte : cbor.substr(at, width))
      size = size << 8 | static_cast<unsigned char>(byte);
    at += width;
    if (has_content && size > cbor.size() - at) return false;
    if (has_content) at += size;
  }
  return false;
}

Json decoded(std::string_view cbor, const ContainerKind& kind, const std::string& file) {
  if (has_pieces(cbor)) kind.refuse_damaged(file, "it has a text in pieces");
  JsonBuilder builder(kMostValues);
  try {
    Json::sax_parse(cbor, &builder, Json::input_format_t::cbor);
  } catch (const Json::exception&) {
    kind.refuse_damaged(file, "it is no CBOR");
  } catch (const RepeatedKey& repeated) {
    kind.refuse_damaged(file, repeated.place + " is there more than once");
  } catch (const NestedTooDeep&) {
    kind.refuse_damaged(file, "it is nested too deep");
  } catch (const TooManyValues&) {
    kind.refuse_damaged(file, "it has too many values");
  }
  return builder.take();
}

}  // namespace

void ContainerKind::refuse(const std::string& file, const std::string& problem) const {
  throw InputError(file, "", problem, remedy);
}

void ContainerKind::refuse_damaged(const std::string& file, const std::string& how) const {
  refuse(file, fmt::format("{} is damaged: {}", thing, how));
}

void ContainerKind::check(const std::string& file, const std::string& its_name,
                          std::uint32_t its_version) const {
  if (its_name != name)
    refuse(file, fmt::format("holds a {}, not {}", its_name.substr(0, 64), thing));
  if (its_version > version) refuse_newer(file);
  if (its_version == 0) refuse_damaged(file, "it has no version");
}

bool is_container(std::string_view bytes) { return bytes.starts_with(kContainerMagic); }

std::string write_container(const ContainerKind& kind, const Json& value) {
  std::string cbor;
  Json::to_cbor(value, cbor);
  const std::uint64_t size = cbor.size();
  Codec codec = Codec::Plain;
  std::string smaller = compressed(cbor);
  if (smaller.size() < size && !unfolds_too_far(size, smaller.size())) {
    codec = Codec::Zstd;
    cbor = std::move(smaller);
  }
  ByteWriter head;
  head.number(kLayout).number(codec).number(kind.version).text(kind.name);
  head.number(size).number(std::uint64_t{cbor.size()});
  const std::string bytes = std::string(kContainerMagic) + std::move(head).take() + cbor;
  return bytes + digest_bytes(bytes);
}

Contained read_container(std::string_view bytes, const ContainerKind& kind,
                         const std::string& file) {
  const Head head = read_head(bytes, kind, file);
  const std::string_view stored = checked(bytes, head, kind, file);
  if (head.size > kMost || unfolds_too_far(head.size, head.stored))
    kind.refuse_damaged(file, "it is too large");
  if (head.codec == Codec::Plain && head.size != head.stored)
    kind.refuse_damaged(file, "its sizes differ");
  std::optional<std::string> unfolded;
  if (head.codec == Codec::Zstd) {
    unfolded = decompressed(stored, head.size);
    if (!unfolded) kind.refuse_damaged(file, "it does not unfold");
  }
  return {head.version, JsonView::of(decoded(unfolded ? *unfolded : stored, kind, file), file)};
}

}  // namespace strato
