// SQL through a connection: values of every type, transactions, and errors that name the file.
#include "core/store/sqlite/connection.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "core/base/error.h"
#include "tests/core/store/temporary_folder.h"

namespace strato::store {
namespace {

class ConnectionTest : public ::testing::Test {
 protected:
  std::int64_t count() const {
    return *connection_.first("SELECT count(*) FROM setting", {},
                              [](const ResultRow& row) { return row.get<std::int64_t>(0); });
  }
  void put(const std::string& key) {
    connection_.insert("INSERT INTO setting (key, value) VALUES (?, ?)",
                       {key, std::string_view("v")});
  }
  template <class Body>
  static std::string error_of(Body body) {
    try {
      body();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }
  TemporaryFolder folder_;
  Connection connection_{folder_ / "a.strata", false};
};

TEST_F(ConnectionTest, ValuesOfEveryTypeComeBack) {
  enum class Kind : std::uint8_t { First, Second };
  const std::optional<std::int64_t> none;
  const auto read =
      connection_.first("SELECT ?, ?, ?, ?, ?, ?",
                        {7, 0.5, std::string("a\0b", 3), none, std::optional(2.5), Kind::Second},
                        [](const ResultRow& row) {
                          EXPECT_EQ(row.get<std::int64_t>(0), 7);
                          EXPECT_EQ(row.get<double>(1), 0.5);
                          EXPECT_EQ(row.text(2), std::string("a\0b", 3));
                          EXPECT_FALSE(row.get<std::optional<std::int64_t>>(3));
                          EXPECT_FALSE(row.get<std::optional<double>>(3));
                          EXPECT_EQ(row.get<std::optional<double>>(4), 2.5);
                          EXPECT_EQ(row.get<Kind>(5), Kind::Second);
                          return true;
                        });
  EXPECT_TRUE(read);
}

TEST_F(ConnectionTest, ValuesAreKeptOnce) {
  const std::string large(5000, 'x');
  const std::string key = connection_.put_value(large);
  EXPECT_EQ(connection_.put_value(large), key);
  const auto values = connection_.rows("SELECT codec, size, bytes FROM value", {},
                                       [](const ResultRow& row) { return row.unpacked(0); });
  EXPECT_EQ(values, std::vector<std::string>{large});
}

TEST_F(ConnectionTest, AFailedWriteTakesEverythingBack) {
  EXPECT_THROW(connection_.write([&] {
    put("a");
    throw std::runtime_error("in the middle");
  }),
               std::runtime_error);
  EXPECT_EQ(count(), 0);
  connection_.write([&] { put("a"), put("b"); });
  EXPECT_EQ(count(), 2);
}

TEST_F(ConnectionTest, ErrorsNameTheFile) {
  const std::string file = connection_.file().string();
  EXPECT_TRUE(error_of([&] { connection_.execute("no sql", {}); }).starts_with(file));
  EXPECT_TRUE(error_of([&] {
                connection_.first("SELECT 9, 1, x''", {},
                                  [](const ResultRow& row) { return row.unpacked(0); });
              }).starts_with(file + ": has a value that is damaged"));
  EXPECT_TRUE(error_of([&] { connection_.fail_missing("run 7"); }).starts_with(file));
}

}  // namespace
}  // namespace strato::store
