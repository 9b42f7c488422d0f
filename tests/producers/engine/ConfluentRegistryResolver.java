import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.apicurio.registry.resolver.ParsedSchema;
import io.apicurio.registry.resolver.SchemaLookupResult;
import io.apicurio.registry.resolver.SchemaParser;
import io.apicurio.registry.resolver.SchemaResolver;
import io.apicurio.registry.resolver.data.Record;
import io.apicurio.registry.resolver.strategy.ArtifactReference;
import io.apicurio.registry.resolver.strategy.ArtifactReferenceResolverStrategy;
import io.apicurio.registry.rest.client.RegistryClient;
import io.apicurio.registry.serde.data.KafkaSerdeMetadata;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.Schema;

/**
 * Registers the schemas of Apicurio's converter at a registry that speaks the protocol of Confluent.
 *
 * <p>Apicurio's own resolver speaks the protocol of Apicurio only. This one does what Confluent's serializer does: it
 * posts the text of the schema to the subject {@code TOPIC-key} or {@code TOPIC-value}, once for each schema, and takes
 * the id that is answered. The address is the property {@code apicurio.registry.url}.
 */
public final class ConfluentRegistryResolver<D> implements SchemaResolver<Schema, D> {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String MEDIA_TYPE = "application/vnd.schemaregistry.v1+json";

    private final HttpClient client = HttpClient.newHttpClient();
    private final Map<String, Map<Schema, SchemaLookupResult<Schema>>> known = new HashMap<>();
    private String address;
    private SchemaParser<Schema, D> parser;

    @Override
    public void configure(Map<String, ?> options, SchemaParser<Schema, D> schemaParser) {
        address = options.get("apicurio.registry.url").toString();
        parser = schemaParser;
    }

    @Override
    public SchemaLookupResult<Schema> resolveSchema(Record<D> record) {
        KafkaSerdeMetadata place = (KafkaSerdeMetadata) record.metadata();
        String subject = place.getTopic() + (place.isKey() ? "-key" : "-value");
        ParsedSchema<Schema> parsed = parser.getSchemaFromData(record, true);
        return known.computeIfAbsent(subject, one -> new HashMap<>())
                .computeIfAbsent(parsed.getParsedSchema(), schema -> register(subject, parsed));
    }

    private SchemaLookupResult<Schema> register(String subject, ParsedSchema<Schema> parsed) {
        try {
            String body = JSON.createObjectNode().put("schema", parsed.getParsedSchema().toString()).toString();
            String name = URLEncoder.encode(subject, StandardCharsets.UTF_8).replace("+", "%20");
            HttpRequest request = HttpRequest.newBuilder(URI.create(address + "/subjects/" + name + "/versions"))
                    .header("Content-Type", MEDIA_TYPE)
                    .POST(HttpRequest.BodyPublishers.ofString(body))
                    .build();
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() != 200) {
                throw new IllegalStateException(subject + ": " + answer.statusCode() + " " + answer.body());
            }
            JsonNode id = JSON.readTree(answer.body()).get("id");
            return SchemaLookupResult.<Schema>builder()
                    .parsedSchema(parsed)
                    .globalId(id.asLong())
                    .contentId(id.asLong())
                    .artifactId(subject)
                    .build();
        } catch (IOException error) {
            throw new IllegalStateException(error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(error);
        }
    }

    @Override
    public SchemaParser<Schema, D> getSchemaParser() {
        return parser;
    }

    @Override
    public SchemaLookupResult<Schema> resolveSchemaByArtifactReference(ArtifactReference reference) {
        throw new UnsupportedOperationException("nothing is read here");
    }

    @Override
    public void setClient(RegistryClient ignored) {} // that of Apicurio's protocol

    @Override
    public void setArtifactResolverStrategy(ArtifactReferenceResolverStrategy<Schema, D> ignored) {}

    @Override
    public void reset() {
        known.clear();
    }

    @Override
    public void close() {}
}
