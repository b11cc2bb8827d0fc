// discover: what a person and a script are told.
#include <gtest/gtest.h>
#include <stdlib.h>

#include "core/io/file.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

TEST(DiscoverCommand, DescribesThisMachine) {
  const TemporaryFolder folder;
  const Json json = json_of(run_cli(
      {"discover", "-o", folder / "here.json", "--cpu-devices", "2", "--name", "Here", "--json"}));
  EXPECT_EQ(json["name"], "Here");
  EXPECT_EQ(json["machines"], 1);
  EXPECT_TRUE(fs::exists(folder / "here.json"));
}

TEST(DiscoverCommand, AFailureIsOneObjectAndKeepsTheLogs) {
  const TemporaryFolder folder;
  write_file(folder / "mpirun", "#!/bin/sh\nexit 3\n");
  fs::permissions(folder / "mpirun", fs::perms::owner_exec, fs::perm_options::add);
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", (folder.path().string() + ":" + path).c_str(), 1);
  const CliResult result = run_cli({"discover", "--launcher", "mpi", "-o", folder / "there.json",
                                    "--job", folder / "job", "--json"});
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(result.status, 3) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["state"], "failed");
  EXPECT_NE(json["problem"], "");
  EXPECT_EQ(json["logs"], (folder / "job").string());
  EXPECT_NE(result.err.find("the machines cannot be asked"), std::string::npos) << result.err;
  EXPECT_FALSE(fs::exists(folder / "there.json"));
}

}  // namespace
}  // namespace strato
