/* spank_penstock: `sbatch --io-volume=10GB` says how much a phase of the job moves, `--io-volume=off` that it is not to
 * be paced. Optional; made by `penstock slurm files`.
 *
 *     gcc -shared -fPIC -o spank_penstock.so spank_penstock.c
 *
 * The volume goes to the node's prolog, `off` to the job's environment. It never fails: an option that cannot be
 * understood is told to the user and has no effect.
 */
#include <ctype.h>
#include <slurm/spank.h>
#include <string.h>

SPANK_PLUGIN(penstock, 1);

enum { LONGEST = 32 };
static char volume[LONGEST];

static int take(int val, const char *given, int remote)
{
    size_t length = given ? strlen(given) : 0;
    int digits = 0;
    (void)val;
    for (size_t at = 0; at < length && length < LONGEST; at++) {
        digits |= isdigit((unsigned char)given[at]) != 0;
        if (!isalnum((unsigned char)given[at]) && given[at] != '.')
            length = LONGEST;
    }
    if (length > 0 && length < LONGEST && (digits || strcmp(given, "off") == 0))
        memcpy(volume, given, length + 1);
    else if (!remote)
        slurm_error("penstock: --io-volume is %.40s; accepted are a volume such as 10GB, and off", given ? given : "");
    return 0;
}

static struct spank_option option = {
    "io-volume", "VOLUME", "What one I/O phase of the job moves, such as 10GB; off: do not pace it.", 1, 0, take};

int slurm_spank_init(spank_t spank, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    if (spank_option_register(spank, &option) != ESPANK_SUCCESS)
        slurm_debug("penstock: --io-volume is not available");
    return 0;
}

int slurm_spank_init_post_opt(spank_t spank, int argc, char **argv)
{
    spank_context_t context = spank_context();
    (void)argc;
    (void)argv;
    if (volume[0] == '\0')
        return 0;
    if (strcmp(volume, "off") == 0) {
        if (context == S_CTX_REMOTE)
            spank_setenv(spank, "PENSTOCK", "off", 1);
    } else if (context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR) {
        spank_job_control_setenv(spank, "PENSTOCK_VOLUME", volume, 1);
    }
    return 0;
}
