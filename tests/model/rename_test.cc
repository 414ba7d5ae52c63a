#include "model/rename.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "base/error_of.h"

namespace fsdpckpt {
namespace {

TEST(WithoutWrapperParts, RemovesThemAnywhere) {
  EXPECT_EQ(without_wrapper_parts("_orig_mod.net.0.weight"), "net.0.weight");
  EXPECT_EQ(without_wrapper_parts("a._fsdp_wrapped_module._checkpoint_wrapped_module.b"), "a.b");
  EXPECT_EQ(without_wrapper_parts("_orig_mod._orig_mod.w"), "w");
  EXPECT_EQ(without_wrapper_parts("_fsdp_wrapped__orig_mod.module.w"), "_fsdp_wrapped__orig_mod.module.w");
}

TEST(WithoutWrapperParts, KeepsWhatOnlyLooksAlike) {
  for (const char* name : {"", "_orig_mod", "a._orig_mod", "my_orig_mod.w", "_orig_modw", "module.w", "_orig_module.w"})
    EXPECT_EQ(without_wrapper_parts(name), name);
}

std::string renamed(const RenameRules& rules, std::string_view name) { return Renamer(rules).name(name); }

TEST(Renamer, WithoutRulesChangesNothing) {
  EXPECT_TRUE(Renamer({}).is_idle());
  EXPECT_EQ(renamed({}, "module._orig_mod.w"), "module._orig_mod.w");
  for (const RenameRules& rules : std::initializer_list<RenameRules>{
           {.clean = true}, {.strip_prefix = "a"}, {.replace = {"a=b"}}, {.add_prefix = "a"}})
    EXPECT_FALSE(Renamer(rules).is_idle());
}

TEST(Renamer, CleansWhatWrapsTheWholeModelAtTheStartOfNamesAlone) {
  EXPECT_EQ(renamed({.clean = true}, "_forward_module.module.a.module.w"), "a.module.w");
  EXPECT_EQ(Renamer({.clean = true}).key("module._orig_mod.w"), "module.w");
  EXPECT_EQ(Renamer({.strip_prefix = "a"}).key("a._orig_mod.w"), "a._orig_mod.w");
}

TEST(Renamer, PrefixesAreWholeParts) {
  for (const char* prefix : {"a.b", "a.b."}) {
    EXPECT_EQ(renamed({.strip_prefix = prefix}, "a.b.c"), "c");
    EXPECT_EQ(renamed({.strip_prefix = prefix}, "a.bc"), "a.bc");
    EXPECT_EQ(renamed({.add_prefix = prefix}, "c"), "a.b.c");
  }
}

TEST(Renamer, AppliesTheRulesInTheirOrder) {
  const RenameRules rules{.clean = true, .strip_prefix = "a", .replace = {"^b=c", "c=d"}, .add_prefix = "e"};
  EXPECT_EQ(renamed(rules, "module.a.b._orig_mod.c"), "e.d.d");
}

TEST(Renamer, TellsWhatNoNameHad) {
  Renamer renamer({.strip_prefix = "a", .replace = {"x=y", "w=v"}});
  EXPECT_EQ(renamer.name("b.w"), "b.v");
  const auto unused = renamer.unused();
  ASSERT_EQ(unused.size(), 2U);
  EXPECT_EQ(unused[0].option + " " + unused[0].pattern, "--strip-prefix a.");
  EXPECT_EQ(unused[1].option + " " + unused[1].pattern, "--rename x");
  EXPECT_EQ(renamer.name("a.x"), "y");
  EXPECT_TRUE(renamer.unused().empty());
}

TEST(Renamer, RefusesRulesThatCannotBe) {
  for (const char* rule : {"", "a", "=b", "(=b", "[a=b", "(a)\\1=b"})
    EXPECT_EQ(error_of([&] { Renamer({.replace = {rule}}); }).kind(), ErrorKind::usage) << rule;
}

TEST(Renamer, RefusesToLeaveNothing) {
  EXPECT_EQ(error_of([] { renamed({.replace = {".*="}}, "a.b"); }).kind(), ErrorKind::usage);
  EXPECT_EQ(renamed({.replace = {"a="}}, "ab"), "b");
}

TEST(Renamer, MatchesLongNamesWithoutRecursionAlongThem) {
  const std::string longest(kLongestRenamed, 'a');
  EXPECT_EQ(renamed({.replace = {"(a|aa)*c|b=x"}}, longest), longest);
  EXPECT_EQ(error_of([&] { renamed({.replace = {"b=x"}}, longest + "a"); }).kind(), ErrorKind::input);
  EXPECT_EQ(renamed({.add_prefix = "p"}, longest + "a").size(), longest.size() + 3);
}

}  // namespace
}  // namespace fsdpckpt
