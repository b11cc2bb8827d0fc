#include "core/io/container.h"

#include <fmt/format.h>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/io/compression.h"
#include "core/io/json_builder.h"

namespace strato {
namespace {

// Layout: magic; layout (u8), codec (u8), version (u32), name (u32 and bytes), bytes of the value,
// bytes of it here (u64 each); the value; the digest of all of this (2 u64). Little endian.
constexpr std::string_view kContainerMagic("\x89STRATO\n", 8);
constexpr std::uint8_t kLayout = 1;
constexpr std::uint64_t kFreely = 16 << 20, kMostTimes = 1000;
enum class Codec : std::uint8_t { Plain, Zstd };

struct Head {
  Codec codec;
  std::uint32_t version;
  std::string name;
  std::uint64_t size, stored;
};

bool unfolds_too_far(std::uint64_t size, std::uint64_t stored) {
  return size > kFreely && size / kMostTimes > stored;
}

std::string digest_bytes(std::string_view content) {
  const Digest digest = digest_of(content);
  ByteWriter out;
  out.number(digest.high).number(digest.low);
  return std::move(out).take();
}

class ContainerReader {
 public:
  ContainerReader(std::string_view bytes, const ContainerKind& kind, const std::string& file)
      : bytes_(bytes), kind_(kind), file_(file) {}

  Head head() const {
    if (!is_container(bytes_)) refuse(fmt::format("does not hold {}, or is damaged", kind_.thing));
    ByteReader in(bytes_.substr(kContainerMagic.size()), file_, {kind_.thing, kind_.remedy});
    if (in.number<std::uint8_t>() > kLayout) refuse_newer();
    Head head;
    head.codec = in.enumerated(Codec::Zstd);
    head.version = in.number<std::uint32_t>();
    head.name = in.text();
    head.size = in.number<std::uint64_t>();
    head.stored = in.number<std::uint64_t>();
    return head;
  }

  std::string value(const Head& head, std::uint64_t most) const {
    const std::string_view stored = checked(head);
    if (head.size > most || unfolds_too_far(head.size, head.stored))
      refuse_damaged("it is too large");
    return unfolded(head, stored);
  }

  Json decoded(std::string_view cbor) const {
    JsonBuilder builder;
    try {
      Json::sax_parse(cbor, &builder, Json::input_format_t::cbor);
    } catch (const Json::exception&) {
      refuse_damaged("it is no CBOR");
    } catch (const RepeatedKey& repeated) {
      refuse_damaged(repeated.place + " is there more than once");
    } catch (const NestedTooDeep&) {
      refuse_damaged("it is nested too deep");
    }
    return builder.take();
  }

 private:
  // The stored value, when the sizes are those of the bytes, the digest theirs, and the kind ours.
  std::string_view checked(const Head& head) const {
    const std::string_view rest = bytes_.substr(kContainerMagic.size() + head_bytes(head));
    const std::uint64_t tail = sizeof(Digest);
    if (rest.size() < tail || rest.size() - tail < head.stored) refuse_damaged("it ends too early");
    if (rest.size() - tail > head.stored) refuse_damaged("it has bytes behind its end");
    const std::string_view all = bytes_.substr(0, bytes_.size() - tail);
    if (digest_bytes(all) != bytes_.substr(all.size()))
      refuse_damaged("its content does not match its digest");
    if (head.name != kind_.name)
      refuse(fmt::format("holds a {}, not {}", head.name.substr(0, 64), kind_.thing));
    if (head.version > kind_.version) refuse_newer();
    if (head.version == 0) refuse_damaged("it has no version");
    return rest.substr(0, head.stored);
  }
  static std::size_t head_bytes(const Head& head) {
    return 2 * sizeof(std::uint8_t) + 2 * sizeof(std::uint32_t) + head.name.size() +
           2 * sizeof(std::uint64_t);
  }

  std::string unfolded(const Head& head, std::string_view stored) const {
    if (head.codec == Codec::Plain) {
      if (head.size != head.stored) refuse_damaged("its sizes differ");
      return std::string(stored);
    }
    std::optional<std::string> value = decompressed(stored, head.size);
    if (!value) refuse_damaged("it does not unfold");
    return std::move(*value);
  }

  [[noreturn]] void refuse(const std::string& problem) const {
    throw InputError(file_, "", problem, kind_.remedy);
  }
  [[noreturn]] void refuse_damaged(const std::string& how) const {
    refuse(fmt::format("{} is damaged: {}", kind_.thing, how));
  }
  [[noreturn]] void refuse_newer() const {
    throw InputError(file_, "", "was written by a newer version of the program",
                     "update the program");
  }

  std::string_view bytes_;
  const ContainerKind& kind_;
  const std::string& file_;
};

}  // namespace

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

Contained read_container(std::string_view bytes, const ContainerKind& kind, const std::string& file,
                         std::uint64_t most) {
  const ContainerReader reader(bytes, kind, file);
  const Head head = reader.head();
  return {head.version, JsonView::of(reader.decoded(reader.value(head, most)), file)};
}

}  // namespace strato
